package store_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestChangedContentsAreFound: what the chain and the database's own check do
// not see.
func TestChangedContentsAreFound(t *testing.T) {
	for _, test := range []struct{ name, sql, problem string }{
		{"nothing", `SELECT 1`, ""},
		{"another text", `UPDATE texts SET body = (SELECT x.body FROM texts x WHERE x.hash <> texts.hash LIMIT 1)`, "text"},
		{"another report", `UPDATE evaluation_reports SET detail = (SELECT x.detail FROM evaluation_reports x WHERE x.evaluation_id <> evaluation_reports.evaluation_id LIMIT 1), codec = 7`, "report"},
		{"a count", `UPDATE run_counts SET n = n + 1`, "kept 4, counted 3"},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := storetest.Address(t)
			s := storetest.OpenAt(t, address, nil)
			for i := range 3 {
				storetest.JudgeOne(t, s, i, storetest.Accepted)
			}
			if _, err := storetest.Forger(t, address).Exec(test.sql); err != nil {
				t.Fatal(err)
			}
			c, err := s.CheckContents(t.Context(), storetest.Operator)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(c.Problems, "; "); (got == "") != (test.problem == "") || !strings.Contains(got, test.problem) {
				t.Errorf("problems %q, want one with %q", got, test.problem)
			}
			if test.problem == "" && (c.Texts == 0 || c.Reports != 3) {
				t.Errorf("looked at %d texts and %d reports", c.Texts, c.Reports)
			}
		})
	}
	s := storetest.Open(t, nil)
	if _, err := s.CheckContents(t.Context(), storetest.User(t, s, "Ana", store.Reviewer)); err == nil {
		t.Error("a reviewer checked the contents")
	}
}

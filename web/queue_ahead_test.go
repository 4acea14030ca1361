package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestLookAhead: the next item is made ready without a word of it being sent, without a
// claim and without a trace in the log; who asks is given that very item next.
func TestLookAhead(t *testing.T) {
	for _, blind := range []string{judge.BlindAlways, judge.BlindNever} {
		t.Run(blind, func(t *testing.T) {
			s := benchSite(t, blind, quotedTrace(), alignedTrace())
			s.user("bob@example.org", store.Reviewer)
			s.user("aud@example.org", store.Auditor)
			ada, bob, aud := s.signIn("ada@example.org"), s.signIn("bob@example.org"), s.signIn("aud@example.org")
			ada.post("/queue/next", url.Values{})
			log := func() (newest int64) {
				t.Helper()
				list, _, err := s.store.ListAudit(t.Context(), store.Operator("test"), store.AuditFilter{})
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range list {
					newest = max(newest, e.Seq)
				}
				return newest
			}
			before := log()
			for who, v := range map[string]*visitor{"ada": ada, "aud": aud} {
				r := v.get("/queue/ahead")
				if r.StatusCode != http.StatusNoContent || r.body != "" {
					t.Errorf("%s: %s with %q, want an empty answer", who, r.Status, r.body)
				}
				for name, values := range r.Header {
					for _, secret := range append(benchSecrets, "/reviews/") {
						if strings.Contains(strings.Join(values, " "), secret) {
							t.Errorf("%s: the header %s tells %q", who, name, secret)
						}
					}
				}
			}
			if got := log(); got != before {
				t.Errorf("the newest event is %d, %d before: looking ahead is no event", got, before)
			}
			if blind == judge.BlindNever { // the auditor sees as much as ada
				if got := s.web.SheetsKept(); got != 2 {
					t.Errorf("%d items are ready, want the open one and the next", got)
				}
			}
			// Nobody holds it: another person is given it at once, and finds it ready.
			ready := s.web.SheetsKept()
			if r := bob.post("/queue/next", url.Values{}); !strings.HasPrefix(r.Request.URL.Path, "/reviews/") {
				t.Errorf("another person is led to %s", r.Request.URL.Path)
			}
			if got := s.web.SheetsKept(); got != ready {
				t.Errorf("%d items are kept when it is opened, %d before: what was made ready is not what is shown", got, ready)
			}
			// Now nothing is left, and that is told to nobody either.
			if r := ada.get("/queue/ahead"); r.StatusCode != http.StatusNoContent || r.body != "" {
				t.Errorf("with nothing left: %s with %q", r.Status, r.body)
			}
		})
	}
}

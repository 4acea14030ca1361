package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// dropTriggers is what somebody with the file in hand would do first.

func TestTamperingWithTheDatabaseIsFound(t *testing.T) {
	ctx := context.Background()
	for _, test := range []struct{ name, sql, problem string }{
		{"nothing", ``, ""},
		{"data changed", `UPDATE audit_events SET data = '{"by":"nobody"}' WHERE seq = 4`, "event 4 was changed"},
		{"actor changed", `UPDATE audit_events SET actor = 'somebody' WHERE seq = 2`, "event 2 was changed"},
		{"denial made allowed", `UPDATE audit_events SET allowed = TRUE WHERE NOT allowed`, "was changed"},
		{"time changed", `UPDATE audit_events SET at = '2026-03-01 10:00:00+00:00' WHERE seq = 3`, "event 3 was changed"},
		{"hash changed too", `UPDATE audit_events SET hash = 'ab' WHERE seq = 3`, "event 3 was changed"},
		{"one removed", `DELETE FROM audit_events WHERE seq = 3`, "event 4 stands where event 3 should"},
		{"one removed, the rest moved up", `DELETE FROM audit_events WHERE seq = 3; UPDATE audit_events SET seq = seq - 1 WHERE seq > 3`, "event 3 does not follow event 2"},
		{"two swapped", `UPDATE audit_events SET seq = -3 WHERE seq = 3; UPDATE audit_events SET seq = 3 WHERE seq = 4; UPDATE audit_events SET seq = 4 WHERE seq = -3`, "event 3 does not follow event 2"},
		{"the end cut off", `DELETE FROM audit_events WHERE seq = (SELECT max(seq) FROM audit_events)`, "the end was cut off"},
		{"everything removed", `DELETE FROM audit_events`, "the end was cut off"},
		{"one added", `INSERT INTO audit_events SELECT seq + 1, at, project, actor_id, actor, action, subject, allowed, data, hash, hash FROM audit_events ORDER BY seq DESC LIMIT 1`, "was changed"},
		{"everything removed, head too", `DELETE FROM audit_events; UPDATE audit_head SET seq = 0, hash = ''`, "all events were removed"},
		{"head moved back", `UPDATE audit_head SET seq = seq - 1`, "the end was cut off or added to"},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := storetest.Address(t)
			s := storetest.OpenAt(t, address, nil)
			storetest.JudgeOne(t, s, 0, flagged)
			if _, err := s.ImportTraces(ctx, storetest.User(t, s, "Ana", store.Reviewer), "default", nil); err == nil {
				t.Fatal("a reviewer imported")
			}
			if test.sql != "" {
				if _, err := storetest.Forger(t, address).Exec(test.sql); err != nil {
					t.Fatal(err)
				}
			}
			v, err := s.VerifyAudit(ctx, storetest.Operator)
			if err != nil {
				t.Fatal(err)
			}
			if (test.problem == "") != (v.Problem == "") || !strings.Contains(v.Problem, test.problem) {
				t.Errorf("problem %q, want one with %q", v.Problem, test.problem)
			}
		})
	}
}

func TestAppendOnlyWithoutDroppingTriggers(t *testing.T) {
	address := storetest.Address(t)
	s := storetest.OpenAt(t, address, nil)
	storetest.JudgeOne(t, s, 0, flagged)
	db := storetest.Raw(t, address)
	for _, table := range []string{"audit_events", "attempts"} {
		if _, err := db.Exec(`DELETE FROM ` + table); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("delete from %s: error %v, want append-only", table, err)
		}
	}
	if _, err := db.Exec(`UPDATE attempts SET reply_hash = ''`); err == nil {
		t.Error("an attempt was rewritten")
	}
}

func TestTamperingWithAnExportedFileIsFound(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	storetest.JudgeOne(t, s, 0, flagged)
	var file bytes.Buffer
	out := json.NewEncoder(&file)
	head, err := s.EachAuditEvent(ctx, storetest.Operator, func(e store.AuditEvent) error { return out.Encode(e) })
	if err != nil {
		t.Fatal(err)
	}
	if err := out.Encode(head); err != nil {
		t.Fatal(err)
	}
	whole := strings.SplitAfter(strings.TrimSuffix(file.String(), "\n"), "\n")
	last := len(whole) - 1 // the head line
	for _, test := range []struct {
		name    string
		lines   func([]string) []string
		problem string
		open    bool
	}{
		{"nothing", func(l []string) []string { return l }, "", false},
		{"changed", func(l []string) []string {
			l[2] = strings.Replace(l[2], `"run":"nightly"`, `"run":"weekly!"`, 1)
			return l
		}, "event 3 was changed", false},
		{"removed", func(l []string) []string { return slices.Delete(l, 1, 2) }, "event 3 stands where event 2 should", false},
		{"reordered", func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }, "event 3 stands where event 2 should", false},
		{"end cut off", func(l []string) []string { return slices.Delete(l, last-1, last) }, "the end was cut off", false},
		{"end and head cut off", func(l []string) []string { return l[:last-1] }, "does not end with its head line", true},
		{"emptied", func([]string) []string { return nil }, "does not end with its head line", true},
		{"emptied but for a head", func([]string) []string { return []string{`{"head":true,"seq":0,"hash":""}`} }, "holds no event", false},
		{"head given twice", func(l []string) []string { return append(l, "\n"+l[last]) }, "stands after the head line", false},
		{"head with a field added", func(l []string) []string {
			l[last] = strings.Replace(l[last], `{"head"`, `{"by":"me","head"`, 1)
			return l
		}, "is not written as an export writes the head", false},
		{"time in another zone", func(l []string) []string {
			l[1] = regexp.MustCompile(`"at":"([^"]+)Z"`).ReplaceAllString(l[1], `"at":"$1+00:00"`)
			return l
		}, "line 2 is not written as an export writes event 2", false},
		{"a field given twice", func(l []string) []string {
			l[1] = strings.Replace(l[1], `"actor":"`, `"actor":"Somebody Else","actor":"`, 1)
			return l
		}, "line 2 is not written as an export writes event 2", false},
		{"a field in another case", func(l []string) []string {
			l[1] = strings.Replace(l[1], `"data":`, `"data":{"verdict":"fail"},"Data":`, 1)
			return l
		}, "line 2 is not written as an export writes event 2", false},
		{"a field added", func(l []string) []string {
			l[1] = strings.Replace(l[1], `{"seq"`, `{"verdict":"fail","seq"`, 1)
			return l
		}, "line 2 is not written as an export writes event 2", false},
		{"added after the head", func(l []string) []string { return append(l, "\n"+l[0]) }, "stands after the head line", false},
		{"no event", func(l []string) []string { l[0] = "hello\n"; return l }, "line 1 is not an audit event", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := store.VerifyAuditFile(strings.NewReader(strings.Join(test.lines(slices.Clone(whole)), "")))
			if err != nil {
				t.Fatal(err)
			}
			if (test.problem == "") != (v.Problem == "") || !strings.Contains(v.Problem, test.problem) {
				t.Errorf("problem %q, want one with %q", v.Problem, test.problem)
			}
			if test.problem == "" && v.Open != test.open {
				t.Errorf("open %v, want %v", v.Open, test.open)
			}
		})
	}
}

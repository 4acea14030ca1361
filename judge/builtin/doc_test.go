package builtin_test

import (
	"os"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// docs/checks.md has a row for each check, with its kind and whether it finds
// parts that were not evaluated, and none for what is no check.
func TestChecksAreDocumented(t *testing.T) {
	data, err := os.ReadFile("../../docs/checks.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		kind     judge.CheckKind
		coverage bool
	}
	documented := map[string]map[string]row{} // judge, check
	var judges []string
	for line := range strings.Lines(string(data)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			judges = strings.Split(strings.TrimSpace(heading), " and ")
		}
		cells := strings.Split(line, "|")
		if !strings.HasPrefix(line, "| `") {
			continue
		}
		name := strings.Split(cells[1], "`")[1]
		kind, of := strings.TrimSpace(cells[2]), judges
		if len(judges) > 1 { // this table says which judge
			if only := kind; only != "both" {
				of = []string{only}
			}
			kind = strings.TrimSpace(cells[3])
		}
		for _, j := range of {
			if documented[j] == nil {
				documented[j] = map[string]row{}
			}
			documented[j][name] = row{judge.CheckKind(kind), strings.Contains(cells[1], "¹")}
		}
	}
	for _, j := range builtin.Judges() {
		for _, c := range j.Checks {
			if got, ok := documented[j.Name][c.Name]; !ok || got != (row{c.Kind, c.Coverage}) {
				t.Errorf("judge %s, check %s: the table has %+v, %v; want %s, coverage %v", j.Name, c.Name, got, ok, c.Kind, c.Coverage)
			}
			delete(documented[j.Name], c.Name)
		}
		for name := range documented[j.Name] {
			t.Errorf("judge %s: the table has %s, which is no check", j.Name, name)
		}
	}
}

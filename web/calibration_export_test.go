package web_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestNumbersAsFiles: the files of a calibration page hold what the API says, and a
// name that begins like a formula is none in a spreadsheet.
func TestNumbersAsFiles(t *testing.T) {
	const formula = `=HYPERLINK("//x.example","gpt")`
	s := newSite(t)
	_, token := s.user("lead@example.org", store.Lead)
	s.user("ada@example.org", store.Reviewer)
	var traces []judge.Trace
	for i := range 8 {
		tr := recordedTrace(fmt.Sprintf("r%d", i), []string{"Yes", "No"}[i%2])
		tr.Judgments[0].Model = formula
		tr.Labels = []judge.HumanLabel{{Judge: "answer-equivalence", Label: []string{"Yes", "No", "No", "No"}[i%4], Reviewer: "panel", Adjudicated: true}}
		traces = append(traces, tr)
	}
	s.load(traces...)
	lead, ada := s.signIn("lead@example.org"), s.signIn("ada@example.org")
	const page = "/calibration/answer-equivalence/"
	for _, file := range []string{"numbers.json", "numbers.csv"} {
		if r := ada.get(page + file); r.StatusCode != http.StatusForbidden {
			t.Errorf("%s for a reviewer: %s", file, r.Status)
		}
	}

	var file, api []any
	r := lead.get(page + "numbers.json")
	r.json(t, &file)
	s.api(token, http.MethodGet, "/api/v1/calibration?judge=answer-equivalence", nil).json(t, &api)
	if a, b := fmt.Sprint(file), fmt.Sprint(api); a != b || len(file) != 1 {
		t.Errorf("the file has %.300s\nthe API %.300s", a, b)
	}
	if got := r.Header.Get("Content-Disposition"); got != `attachment; filename="calibration-answer-equivalence.json"` {
		t.Errorf("the file's name: %s", got)
	}

	r = lead.get(page + "numbers.csv")
	rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	if err != nil || len(rows) < 20 {
		t.Fatalf("%d rows (%v): %.300s", len(rows), err, r.body)
	}
	by := map[string]map[string]string{}
	for _, row := range rows[1:] {
		if row[1] != "'"+formula {
			t.Fatalf("the model stands as %q", row[1])
		}
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		by[cells["figure"]] = cells
	}
	var report struct {
		Agreement  struct{ Value json.Number } `json:"agreement"`
		CohenKappa struct{ Value json.Number } `json:"cohen_kappa"`
	}
	one, err := json.Marshal(file[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(one, &report); err != nil {
		t.Fatal(err)
	}
	if got := by["agreement"]; got["value"] != "0.75" || got["value"] != report.Agreement.Value.String() || got["n"] != "8" || got["ci_low"] == "" {
		t.Errorf("agreement: %v, in JSON %v", got, report.Agreement.Value)
	}
	if got := by["cohen_kappa"]; got["value"] != report.CohenKappa.Value.String() {
		t.Errorf("kappa: %v, in JSON %v", got, report.CohenKappa.Value)
	}
	if got := by["count.human=No.judge=Yes"]; got["value"] != "2" || got["ci_low"] != "" || got["no_interval"] == "" {
		t.Errorf("a cell: %v", got)
	}
	undefined := slices.ContainsFunc(rows[1:], func(row []string) bool { return row[4] == "" && row[11] != "" })
	if !undefined {
		t.Error("no figure is undefined with its reason; of eight labels the weighted ones should be")
	}
}

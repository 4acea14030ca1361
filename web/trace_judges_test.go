package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestEveryTraceSaysWhyNot: each judge of the project has a line on each trace's
// page, which says why it did not judge it, and the API says the same.
func TestEveryTraceSaysWhyNot(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	asked := citationTrace("asked")
	asked.Judges = []string{"citations", "reference"} // it brings no reference
	plain := judge.Trace{ID: "plain", Question: "Who?", Output: "1. Mary wrote it.\n2. So it was Mary.", Run: "r"}
	s.load(asked, plain, recordedTrace("reported", "Yes"))
	v := s.signIn("ada@example.org")
	for _, c := range []struct {
		trace, judge, word, why string
	}{
		{"asked", "citations", "Judged", ""},
		{"asked", "reference", "Refused", "Reference is missing: judge reference needs it."},
		{"asked", "logic", "Not judged", "The trace asks for citations, reference only."},
		{"plain", "reference", "Not judged", "Reference is missing: judge reference needs it."},
		{"plain", "answer-equivalence", "Not judged", "It is none of the judges that a trace gets which asks for none"},
		{"reported", "answer-equivalence", "Judged", ""},
	} {
		page := v.get("/traces/" + c.trace)
		lines := map[string][]string{}
		for _, row := range find(t, page.body, "#judges-table tbody tr") {
			cells := find(t, render(t, row), "td")
			lines[textOf(cells[0])] = []string{textOf(cells[1]), textOf(cells[3])}
		}
		if len(lines) < 7 {
			t.Errorf("%s: %d judges have a line, want all of the project's", c.trace, len(lines))
		}
		got := lines[c.judge]
		if len(got) != 2 || got[0] != c.word || !strings.HasPrefix(got[1], c.why) || (c.why == "") != (got[1] == "") {
			t.Errorf("%s, %s: %q, want %q and %q", c.trace, c.judge, got, c.word, c.why)
		}
	}

	var api struct {
		Evaluations []struct {
			Judge, Status, Message string
			RefusedField           string `json:"refused_field"`
		}
		NotJudged []judge.Why `json:"not_judged"`
	}
	s.api(token, http.MethodGet, "/api/v1/traces/asked", nil).json(t, &api)
	refused := map[string]string{}
	for _, e := range api.Evaluations {
		if e.Status == "refused" {
			refused[e.Judge] = e.RefusedField + ": " + e.Message
		}
	}
	if diff := cmp.Diff(map[string]string{"reference": "reference: reference is missing: judge reference needs it"}, refused); diff != "" {
		t.Errorf("what was refused (-want +got):\n%s", diff)
	}
	for _, w := range api.NotJudged {
		if w.Judge == "citations" || w.Judge == "reference" || w.State != judge.WhyNotAsked || w.Message == "" {
			t.Errorf("not judged: %+v; want only what was not asked for, each with its sentence", w)
		}
	}
	if len(api.NotJudged) < 5 {
		t.Errorf("only %d judges are explained", len(api.NotJudged))
	}
	list := v.get("/evaluations?status=refused")
	if cells := find(t, list.body, `td[data-label="Status"]`); len(cells) != 1 || strings.Join(strings.Fields(textOf(cells[0])), " ") != "Refused Reference is missing: judge reference needs it" {
		t.Errorf("the list of refused ones says %v, want the message", len(cells))
	}
}

// render gives one element back as markup, to look inside it.
func render(t *testing.T, n *html.Node) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("<table>")
	if err := html.Render(&b, n); err != nil {
		t.Fatal(err)
	}
	return b.String() + "</table>"
}

package views_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/htmlcheck"
)

var deskStates = []views.DeskState{views.DeskOpen, views.DeskBlind, views.DeskRevealed, views.DeskVisible, views.DeskAdjudication, views.DeskDecided, views.DeskLost, views.DeskLate, views.DeskExpired, views.DeskReadOnly}

// secret stands for everything the judge said.
const secret = "XYZZYSECRET"

// leaky is a desk whose caller forgot to leave the judge's answer out.
func leaky(state views.DeskState, sealed bool) views.DeskPage {
	p := desk(state)
	p.Sealed, p.JudgeFault = sealed, secret
	p.Proposal, p.Own = new(views.Proposal), nil
	fill(reflect.ValueOf(p.Proposal).Elem(), secret)
	bench := sampleCitations()
	bench.Trace.Steps = []views.Step{{N: 1, Segments: []views.Segment{{Text: "flawed", Kind: views.Violation}}}}
	for i := range bench.Units {
		for j := range bench.Units[i].Parts {
			bench.Units[i].Parts[j].JudgeNote = secret
		}
	}
	p.Bench = bench
	p.Earlier = []views.Signature{{Name: secret, Comment: secret}}
	p.Signed = &views.Signature{Name: secret, Comment: secret, Action: "override"}
	p.Reasons = nil
	for _, code := range judge.ReasonCodes() {
		p.Reasons = append(p.Reasons, judge.Reason{Code: code, Detail: secret})
	}
	return p
}

func source(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A sealed desk holds nothing of the judge's, even when its caller filled it in:
// not the answer, not the rulings, not the reasons that tell.
func TestSealedDeskHoldsNothingOfTheJudges(t *testing.T) {
	for _, s := range deskStates {
		for _, sealed := range []bool{true, false} {
			if !sealed && s != views.DeskBlind {
				continue
			}
			t.Run(string(s), func(t *testing.T) {
				p := leaky(s, sealed)
				p.Own = &views.Answer{Mark: views.Mark{Verdict: judge.Fail}}
				page := source(t, views.Desk(p))
				if s == views.DeskLost { // the name of who signed is not the judge's; what they said is not told
					page = strings.ReplaceAll(page, secret+" signed first", "")
				}
				if i := strings.Index(page, secret); i >= 0 {
					t.Errorf("the page discloses the judge's answer: …%s…", page[max(0, i-200):i+40])
				}
				doc := render(t, views.Desk(p))
				check(t, doc, htmlcheck.None(".judged"), htmlcheck.None(".by-judge"), htmlcheck.None(".proposal"), htmlcheck.None(".reason.critical"), htmlcheck.None(".violation"), htmlcheck.In("#s1", htmlcheck.Text("flawed")),
					htmlcheck.None("[value=confirm]"), htmlcheck.In("#provenance", htmlcheck.Contains("Sealed until you commit")))
				for _, code := range []string{"Critical error", "Ambiguous score", "Random audit", "Below threshold", "Misattribution"} {
					if strings.Contains(page, code) {
						t.Errorf("the page names the telling reason %q", code)
					}
				}
				if !strings.Contains(page, "Judge failed") {
					t.Error("the page leaves out a reason that tells nothing")
				}
			})
		}
	}
}

// The same desk unsealed shows it: the test above does not pass by accident.
func TestOpenDeskShowsTheJudgesAnswer(t *testing.T) {
	p := leaky(views.DeskVisible, false)
	doc := render(t, views.Desk(p))
	check(t, doc, htmlcheck.In(".proposal", htmlcheck.Contains(secret)), htmlcheck.Count(".judged", 16), htmlcheck.In("#c3 .by-judge", htmlcheck.Contains(secret)), htmlcheck.Count(".violation", 1), htmlcheck.In("#provenance", htmlcheck.Contains(secret)),
		htmlcheck.In(".routing", htmlcheck.Contains("Critical error")), htmlcheck.Count("[value=confirm]", 1))
}

// With no proposal at all, the sealed page is the same to the byte: nothing of
// it depends on what the judge said.
func TestBlindDeskDoesNotDependOnTheJudge(t *testing.T) {
	with := leaky(views.DeskBlind, true)
	without := leaky(views.DeskBlind, true)
	without.Proposal, without.Earlier, without.Signed, without.JudgeFault = nil, nil, nil, ""
	without.Reasons = nil
	for _, code := range judge.ReasonCodes() {
		if !judge.Telling(code) {
			without.Reasons = append(without.Reasons, judge.Reason{Code: code})
		}
	}
	if source(t, views.Desk(with)) != source(t, views.Desk(without)) {
		t.Error("two blind pages differ by the judge's answer only, and are not the same")
	}
}

func TestSealedEvaluationHoldsNothingOfTheJudges(t *testing.T) {
	p := evaluationPage()
	fill(reflect.ValueOf(&p.Proposed).Elem(), secret)
	p.Result = p.Proposed
	for _, part := range []any{&p.Reasons, &p.Checks, &p.Findings, &p.Attempts, &p.Labels, &p.Decisions, &p.Report, &p.Fault, &p.RefusedField, &p.Engine, &p.Model, p.Signed} {
		fill(reflect.ValueOf(part).Elem(), secret)
	}
	p.Sealed = false
	if !strings.Contains(source(t, views.Evaluation(p)), secret) {
		t.Fatal("the open page does not show the answer: the test shows nothing")
	}
	p.Sealed = true
	if page := source(t, views.Evaluation(p)); strings.Contains(page, secret) {
		t.Error("the sealed page discloses the judge's answer")
	}
}

func TestSealedRowsHoldNothingOfTheJudges(t *testing.T) {
	row := evaluationRow()
	row.Sealed, row.Proposed.Label, row.Result.Label = true, secret, secret
	row.Reasons = []judge.Reason{{Code: judge.ReasonCriticalError, Detail: secret}, {Code: judge.ReasonRequested}}
	page := source(t, views.Evaluations(views.EvaluationsPage{Frame: frame("Evaluations", views.TabEvaluations), Rows: []views.EvaluationRow{row}}))
	doc := render(t, views.Evaluations(views.EvaluationsPage{Frame: frame("Evaluations", views.TabEvaluations), Rows: []views.EvaluationRow{row}}))
	check(t, doc, htmlcheck.None("tbody .verdict"), htmlcheck.None("tbody .critical"), htmlcheck.In("tbody", htmlcheck.Contains("Sent by a person")))
	if strings.Contains(page, secret) {
		t.Error("a sealed row discloses the judge's answer")
	}
}

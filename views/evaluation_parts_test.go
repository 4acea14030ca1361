package views_test

import (
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/htmlcheck"
)

// What several answers said, what cites nothing, the classes of parts, and what
// each call was for stand on the page, and none of it while it is sealed.
func TestEvaluationParts(t *testing.T) {
	uncited := 2
	p := evaluationPage()
	p.Samples, p.Spread = 5, &views.Spread{Pass: 3, Fail: 1, Unusable: 1, Min: 0.55, Max: 0.9, SD: 0.15}
	p.Uncited, p.Undecided, p.Explanation = &uncited, true, "the sources are too short"
	p.Parts = []judge.PartLabel{{Kind: judge.PartDimension, Key: "premise_support", Label: "4"}, {Kind: judge.PartCitation, Key: "2", Label: "partially_supported"}, {Kind: judge.PartStep, Key: "3", Label: "CORRECT"}}
	p.PolicyVersion, p.PolicyHref, p.UnpricedCalls, p.CostUSD = 7, "/policy?version=7", 1, 0
	p.Attempts = []views.Attempt{{Number: 1, Purpose: judge.PurposeDecomposition, ModelAnswered: "tarn-3"}, {Number: 2, Sample: 4, Unpriced: true, ModelAnswered: "tarn-3"}}
	check(t, render(t, views.Evaluation(p)),
		htmlcheck.In("main", htmlcheck.Contains("Asked 5 times: 3 of 4 usable answers say the same."), htmlcheck.Contains("2 steps claim something and cite nothing."),
			htmlcheck.Contains("Not decided: The sources are too short."), htmlcheck.Contains("Scores from 0.55 to 0.90, standard deviation 0.15."),
			htmlcheck.Contains("No valid report"), htmlcheck.Contains("Premise support"), htmlcheck.Contains("Citation 2"), htmlcheck.Contains("partially supported"), htmlcheck.Contains("Reference step 3"),
			htmlcheck.Contains("no price known"), htmlcheck.Contains("decomposition of the reference"), htmlcheck.Contains("answer 4")),
		htmlcheck.Count(`a[href="/policy?version=7"]`, 1))
	p.PolicyHref = ""
	check(t, render(t, views.Evaluation(p)), htmlcheck.None(`a[href^="/policy"]`))
	p.Sealed = true
	for _, told := range []string{"usable answers", "cite nothing", "Not decided", "Premise support", "no price known", "answer 4"} {
		if htmlcheck.Run(render(t, views.Evaluation(p)), htmlcheck.In("main", htmlcheck.Contains(told))) == nil {
			t.Errorf("sealed, the page tells %q", told)
		}
	}
}

package web_test

import (
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/calibration/threshold"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// scored judges n traces by citations: what fails has people's label, of the rest a
// part, drawn by lot. People pass with a chance that grows with the score.
func (s *site) scored(n int, share float64) {
	s.t.Helper()
	all := builtin.Judges()
	citations := all[slices.IndexFunc(all, func(j judge.Judge) bool { return j.Name == "citations" })]
	source := rand.New(rand.NewPCG(11, 13))
	storetest.Population(s.t, s.store, judge.Planned{Judge: "citations", PromptVersion: citations.PromptVersion, Engine: judge.EngineRules, Model: judge.EngineRules,
		Judgment: judge.NoJudgment}, "scored", n, func(int) storetest.Judged {
		score := math.Round(100*math.Pow(source.Float64(), 0.4)) / 100
		j := storetest.Judged{Score: score, Verdict: judge.DefaultBand.Verdict(score, false, false)}
		label := judge.HumanLabel{Judge: "citations", Verdict: judge.Fail, Reviewer: "annotator", Stratum: judge.StratumFlagged}
		if source.Float64() < 1/(1+math.Exp(-11*(score-0.65))) {
			label.Verdict = judge.Pass
		}
		chance := 1.0
		if j.Verdict == judge.Pass {
			chance, label.Stratum = share, judge.StratumRandomAudit
		}
		label.InclusionProbability = &chance
		if source.Float64() < chance {
			j.People = []judge.HumanLabel{label}
		}
		return j
	})
}

// TestThresholdsPage: the page answers what its address asks, a limit keeps the
// recommendation within it, the numbers as JSON are those of the page, and trying leads
// to a policy that says the band and is not saved.
func TestThresholdsPage(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lea@example.org", store.Lead)
	s.user("rita@example.org", store.Reviewer)
	lead, reviewer := s.signIn("lea@example.org"), s.signIn("rita@example.org")
	const page = "/calibration/citations/thresholds"
	if r := lead.get(page); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "No evaluation of this judge has a verdict yet") {
		t.Errorf("without anything judged: %s", r.Status)
	}
	s.scored(700, 0.3)
	if r := reviewer.get(page); r.StatusCode != http.StatusForbidden {
		t.Errorf("a reviewer: %s, want 403", r.Status)
	}
	r := lead.get(page + "?low=0.5&high=0.9&cost_miss=50&cost_alarm=10&cost_minute=0.5&minutes=3&per_week=2000")
	for _, want := range []string{"With your band of 0.5 to 0.9, of 1,000 evaluations about", "With the policy’s band of 0.6 to 0.8", "is the band of least expected cost",
		"Cost of mistakes against people’s hours", "seed 20260101", "/policy?try_judge=citations&amp;try_low=0.5&amp;try_pass=0.9"} {
		if !strings.Contains(r.body, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	ask := "?low=0.5&high=0.9&cost_miss=50&cost_alarm=10&cost_minute=0.5&minutes=3&per_week=2000"
	var free, narrow threshold.Written
	s.api(token, http.MethodGet, "/api/v1"+page+ask, nil).json(t, &free)
	s.api(token, http.MethodGet, "/api/v1"+page+ask+"&max_hours=4&max_misses=900", nil).json(t, &narrow)
	if free.Refused != "" || free.Best == nil || free.Tuning.N+free.Reporting.N != free.Labels || free.Replicates != 2000 || free.PerWeek != 2000 {
		t.Fatalf("as JSON: %+v", free)
	}
	if narrow.Best == nil || narrow.Best.Band == free.Best.Band {
		t.Errorf("at most 4 hours a week changed nothing: %+v", narrow.Best)
	}
	for _, bad := range []string{"?low=0.9&high=0.5", "?low=zero", "?minutes=0", "?seed=-1", "?max_hours=many", "?minutes=1,5", "?cost_miss=1_000", "?cost_miss=0x1p3", "?per_week=1e308", "?minutes=1e-300", "?cost_alarm=NaN"} {
		if r := lead.get(page + bad); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, `id="threshold-fault"`) {
			t.Errorf("%s: %s", bad, r.Status)
		}
	}
	if r := lead.get(page + "?model=nobody&version=x"); r.StatusCode != http.StatusNotFound {
		t.Errorf("a model that is not there: %s", r.Status)
	}
	tried := lead.get("/policy?try_judge=citations&try_low=0.5&try_pass=0.9")
	form := formOf(t, tried.body, yamlForm)
	if yaml := form.Get("yaml"); !strings.Contains(yaml, "band: [0.5, 0.9]") || form.Get("judge") != "citations" {
		t.Errorf("the policy to try is %q for %q", yaml, form.Get("judge"))
	}
	if p := s.policy(); len(p.Rules) != 0 || p.Version != 1 {
		t.Errorf("trying saved a policy: %+v", p)
	}
	if r := lead.post("/policy/dry-run", form); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "Sent to people") {
		t.Errorf("its dry run: %s", r.Status)
	}
}

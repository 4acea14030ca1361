package release

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge/calibration"
)

// Input is what a candidate came from, and what else is known about its judges.
type Input struct {
	File             string
	Traces, BadLines int
	// Calibration and Labels are a project's; nil: there is none, or it was not asked.
	Calibration []calibration.Report
	Labels      []ProjectLabel
	Notes       []string
	// Trust is what a project keeps of these judges; nil: there is no project.
	Trust []ProjectTrust
	// Pending evaluations wait for a judge.
	Pending int
	// Stored: the candidate is a run of a project and no file.
	Stored bool
}

// trustOf a judge in the project. One that it knows nothing of is advisory.
func (in Input) trustOf(key groupKey) ProjectTrust {
	for _, t := range in.Trust {
		if t.Rater == (Rater{key.judge, key.model, key.version}) {
			return t
		}
	}
	return ProjectTrust{}
}

// methods say how the figures are made.
var methods = map[string]string{
	"pass_rate":  "passed of decided evaluations, Wilson interval (1927)",
	"human_only": "labels weighted by one over their inclusion probability (Horvitz & Thompson 1952), logit interval",
	"corrected":  "post-stratified within verdict (Tenenbein 1970), weighted by one over the inclusion probability, logit interval",
	"kappa":      "Cohen's kappa (1960), Fisher z interval with the standard error of Fleiss, Cohen & Everitt (1969); every label counts once, whatever its chance to be drawn",
	"baseline":   "paired difference of pass rates, Bonett-Price interval (2012); McNemar's test (1947)",
}

// Decide applies the rules. The error says which counts cannot be.
func (y *Tally) Decide(in Input) (Report, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	r := Report{
		File: in.File, ConfLevel: Level, Options: y.options, Method: methods, Traces: in.Traces, BadLines: in.BadLines,
		Judges: []Judged{}, Rules: []Rule{}, FailingTotal: y.failed, Notes: slices.Clone(in.Notes),
		// Copies that are never nil: empty lists are written as such.
		Failing: append(append([]Example{}, y.regress...), y.failing...), Waiting: append([]Example{}, y.waiting...),
	}
	r.Failing = r.Failing[:min(len(r.Failing), MostExamples)]
	unrated := 0
	for _, key := range y.keys() {
		g := y.groups[key]
		j, err := y.judged(g, key, in)
		if err != nil {
			return Report{}, err
		}
		r.Judges = append(r.Judges, j)
		r.Overall.Counts.add(g.counts)
		unrated += g.unrated
	}
	r.Overall.PassRate = r.Overall.passRate()
	r.Rules = append(r.Rules, y.inputRules(in, r.Overall.Counts, unrated)...)
	for _, key := range y.keys() {
		if y.groups[key].judged > 0 {
			r.Rules = append(r.Rules, r.trustRules(key, y.options, in.trustOf(key).Required)...)
		}
	}
	if y.options.MinPassRate != nil {
		for _, j := range r.Judges {
			if j.Refused == j.Evaluations {
				continue // it was tried because nobody named judges; a note says so
			}
			r.Rules = append(r.Rules, j.passRule(*y.options.MinPassRate, y.options.AllowPending))
		}
	}
	if y.baseline != nil {
		c := y.compare()
		r.Baseline = &c
		r.Rules = append(r.Rules, c.rules()...)
		r.Notes = append(r.Notes, y.changed()...)
	}
	if in.Pending > 0 {
		r.Rules = append(r.Rules, Rule{Name: "judging", Outcome: Pending, Detail: count(in.Pending, "evaluation waits", "evaluations wait") + " for a judge, so the whole is not judged yet"})
	}
	r.Rules = append(r.Rules, waitingRule(r.Overall.Counts, y.options.AllowPending, in.Stored))
	tellApart(r.Rules)
	r.note(y)
	r.conclude()
	return r, nil
}

func (y *Tally) judged(g *group, key groupKey, in Input) (Judged, error) {
	trust, err := g.trust(key, in.Calibration)
	if err != nil {
		return Judged{}, err
	}
	known := in.trustOf(key)
	trust.State, trust.Why = known.State, known.Why
	j := Judged{
		Judge: key.judge, Model: key.model, Engine: key.engine, PromptVersion: key.version, Counts: g.counts,
		PassRate: g.counts.passRate(), Correction: g.correct(key, y.options, in.Labels), Trust: trust, DecidedBy: ByDecided,
	}
	if j.Correction.Enough {
		j.DecidedBy = ByCorrected
	}
	return j, nil
}

// inputRules says what of the input can't be decided on; it has one rule at least.
func (y *Tally) inputRules(in Input, all Counts, unrated int) []Rule {
	rule := func(detail string) Rule { return Rule{Name: "input", Outcome: BadInput, Detail: detail} }
	var bad []Rule
	if in.BadLines > 0 {
		bad = append(bad, rule(fmt.Sprintf("%s could not be read: correct them, so that the whole candidate is judged", count(in.BadLines, "line", "lines"))))
	}
	switch {
	case in.Stored && all.Evaluations == 0:
		bad = append(bad, rule("no judge has judged anything of it"))
	case in.Traces == 0:
		bad = append(bad, rule("there is no trace to judge"))
	case all.Evaluations == 0:
		bad = append(bad, rule("no judge fits any trace: name one with --judge, or give the traces what a judge needs"))
	case all.Refused == all.Evaluations:
		bad = append(bad, rule("every evaluation is refused: the traces lack what their judges need"))
	}
	if unrated > 0 {
		bad = append(bad, rule(fmt.Sprintf("%s without a score, which --pass-threshold needs: leave it out for judges that give labels only",
			count(unrated, "evaluation is", "evaluations are"))))
	}
	if y.baseline != nil && y.baseline.Len() == 0 {
		bad = append(bad, rule("the baseline "+y.baseline.Name+" has no evaluation"))
	}
	if len(bad) > 0 {
		return bad
	}
	return []Rule{{Name: "input", Outcome: Passed, Detail: fmt.Sprintf("%s, %s", traces(in.Traces), count(all.Evaluations, "evaluation", "evaluations"))}}
}

// trustRules of a judge: kappa against its minimum where one is asked for, else what
// the project keeps where that is asked for.
func (r Report) trustRules(key groupKey, o Options, required bool) (rules []Rule) {
	for _, j := range r.Judges {
		if (groupKey{j.Judge, j.PromptVersion, j.Model, j.Engine}) != key {
			continue
		}
		if o.MinKappa != nil {
			rules = append(rules, j.Trust.rule(key, *o.MinKappa))
		}
		if rule, asked := j.Trust.stateRule(key, o.MinKappa == nil && (required || o.RequireTrusted)); asked {
			rules = append(rules, rule)
		}
	}
	return rules
}

// passRule holds the pass rate against its minimum.
func (j Judged) passRule(minimum float64, allowPending bool) Rule {
	r := Rule{Name: "pass_rate", Judge: j.Judge, Model: j.Model, PromptVersion: j.PromptVersion, Outcome: Passed}
	rate := j.rate().Finite()
	if !rate.Defined() {
		r.Outcome, r.Detail = Failed, rate.Undefined+", so nothing shows that the minimum of "+percent(minimum)+" is reached"
		if j.Waiting > 0 && !allowPending {
			r.Outcome = Pending
		}
		return r
	}
	by := fmt.Sprintf("of %s", count(j.Decided, "decided evaluation", "decided evaluations"))
	if j.DecidedBy == ByCorrected {
		by = fmt.Sprintf("corrected by %s of the %s", count(j.Correction.Corrected.N, "label", "labels"), j.Correction.Source)
	}
	verb := "reaches"
	// A rate that is the minimum to the last digit reaches it.
	if rate.Value < minimum-1e-9 {
		r.Outcome, verb = Failed, "is under"
	}
	r.Detail = fmt.Sprintf("pass rate %s %s %s the minimum of %s", share(rate), by, verb, percent(minimum))
	if r.Outcome == Passed && rate.HasInterval() && rate.Low < minimum {
		r.Detail += "; its lower bound does not, so more traces would make it surer"
	}
	return r
}

func waitingRule(c Counts, allowed, stored bool) Rule {
	r := Rule{Name: "waiting", Outcome: Passed, Detail: "no evaluation waits for people"}
	if c.Waiting == 0 {
		return r
	}
	r.Detail = count(c.Waiting, "evaluation waits", "evaluations wait") + " for people"
	if c.JudgeFailed > 0 {
		r.Detail += fmt.Sprintf(", %d of them because the judge gave no valid report", c.JudgeFailed)
	}
	if allowed {
		r.Detail += "; that is allowed here"
		return r
	}
	r.Outcome = Pending
	if stored {
		r.Detail += ": settle them in the queue"
		return r
	}
	r.Detail += ": settle them with adjudicated labels in the file, or allow them with --allow-pending"
	return r
}

// compare pairs candidate and baseline.
func (y *Tally) compare() Comparison {
	c := Comparison{Name: y.baseline.Name, Kind: y.baseline.Kind, Known: y.baseline.Len(), Judges: []Pair{}}
	var names []string
	for _, key := range y.keys() {
		if !slices.Contains(names, key.judge) {
			names = append(names, key.judge)
		}
	}
	for _, name := range names {
		p := Pair{Judge: name}
		for key, now := range y.now[name] {
			before, _ := y.baseline.state(key)
			if before == undecided || now == undecided {
				c.Undecided++
				continue
			}
			p.add(before, now)
		}
		p.compute()
		c.Paired += p.Paired
		c.Judges = append(c.Judges, p)
	}
	return c
}

func (c Comparison) rules() (rules []Rule) {
	if c.Paired == 0 && c.Known > 0 {
		return []Rule{{Name: "baseline", Outcome: BadInput,
			Detail: fmt.Sprintf("no trace is decided both now and in %s, so the two can't be compared: a baseline has the same trace ids and judges", c.Name)}}
	}
	for _, p := range c.Judges {
		rules = append(rules, p.rule(c.Name))
	}
	return rules
}

// changed notes judges that are not what they were in the baseline.
func (y *Tally) changed() (notes []string) {
	seen := map[string]bool{}
	for _, key := range y.keys() {
		versions, models := y.baseline.versions[key.judge], y.baseline.models[key.judge]
		if seen[key.judge] || len(versions) == 0 || slices.Contains(versions, key.version) && slices.Contains(models, key.model) {
			continue
		}
		seen[key.judge] = true
		notes = append(notes, fmt.Sprintf("Judge %s has another version or model than in %s: a difference may be the judge's and not the candidate's.", key.judge, y.baseline.Name))
	}
	return notes
}

// note adds what is easily misread.
func (r *Report) note(y *Tally) {
	if r.Overall.Waiting > 0 && r.Overall.Decided > 0 {
		r.Notes = append(r.Notes, "Pass rates are of what is decided. What waits was chosen by its verdict, so it may pass more or less often.")
	}
	if y.clusters > 0 {
		r.Notes = append(r.Notes, "Some traces belong to a cluster. The intervals treat traces as independent and are narrower than they should be.")
	}
	if r.Overall.Refused > 0 {
		r.Notes = append(r.Notes, count(r.Overall.Refused, "evaluation was", "evaluations were")+" refused because the trace lacks what the judge needs; no rate counts them.")
	}
	if r.Overall.Abstained > 0 {
		r.Notes = append(r.Notes, count(r.Overall.Abstained, "evaluation is", "evaluations are")+" settled without a verdict; no rate counts them.")
	}
	for _, j := range r.Judges {
		if j.Refused == j.Evaluations {
			r.Notes = append(r.Notes, fmt.Sprintf("Judge %s judged nothing, so no rule holds for it: every trace lacks what it needs.", j.Judge))
		}
		for _, n := range j.Correction.Notes {
			r.Notes = append(r.Notes, fmt.Sprintf("%s by %s: %s", j.Judge, j.Model, n))
		}
	}
	if r.Notes == nil {
		r.Notes = []string{}
	}
}

// conclude takes the gravest outcome of the rules.
func (r *Report) conclude() {
	r.Outcome = Passed
	for _, o := range severity {
		if slices.ContainsFunc(r.Rules, func(rule Rule) bool { return rule.Outcome == o }) {
			r.Outcome = o
			break
		}
	}
	r.ExitCode = r.Outcome.ExitCode()
	var why []string
	for _, rule := range r.Rules {
		if rule.Outcome == r.Outcome && r.Outcome != Passed {
			why = append(why, rule.subject()+rule.Detail)
		}
	}
	r.Sentence = map[Outcome]string{
		Passed:    "The gate passed.",
		Failed:    "The gate failed: ",
		BadInput:  "The gate could not decide: ",
		Untrusted: "A judge is not trusted, so the gate does not rely on it: ",
		Pending:   "The gate waits for people: ",
	}[r.Outcome]
	if len(why) > 0 {
		r.Sentence += strings.Join(why, "; ") + "."
	}
}

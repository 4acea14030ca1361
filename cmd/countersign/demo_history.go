package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/countersign/countersign/cmd/countersign/demo"
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/recorded"
	"github.com/countersign/countersign/judge/rules"
	"github.com/countersign/countersign/judge/tracefile"
	"github.com/countersign/countersign/store"
)

// The demo's project has a history, made by the same steps as anybody's: a pilot
// was judged by an earlier version of a judge, a lead wrote a rule into the policy,
// and the pilot was judged again by the present version.
const (
	pilotRun    = "pilot"
	pilotTraces = 12
	ruleComment = "Medical answers: a step that claims something and cites nothing is looked at too."
)

// pilotMarkers is what the earlier version of citations took for a marker: single
// numbers only.
var pilotMarkers = regexp.MustCompile(`\[(\d+)\]`)

// demoEngines are those without a key or a network.
func demoEngines(markers *regexp.Regexp) engines {
	return engines{
		all:    map[string]judge.Engine{judge.EngineRules: rules.Engine{Markers: markers}, judge.EngineRecorded: recorded.Engine{}},
		engine: judge.EngineRules, targets: []judge.Target{{Engine: judge.EngineRules}},
	}
}

// demoPilot judges the first traces by the earlier version, in a project that is
// new.
func demoPilot(ctx context.Context, s *state, db *store.Store, project store.Project) error {
	judges, err := newHarnesses(ctx, s, db, builtin.JudgesWith(builtin.Setup{Markers: pilotMarkers}), demoEngines(pilotMarkers))
	if err != nil {
		return err
	}
	h, err := judges.with(ctx, project, nil)
	if err != nil {
		return err
	}
	i := importer{state: s, db: db, project: project.Name, harness: h, run: pilotRun}
	if err := i.set(ctx, demo.Sets()[0], pilotTraces); err != nil {
		return err
	}
	_, err = drain(ctx, judges, project.Name, demoConcurrency)
	return err
}

// demoRule adds a rule to the policy of a new project.
func demoRule(ctx context.Context, s *state, db *store.Store, project store.Project) error {
	p := project.Policy
	p.Rules = append(p.Rules, judge.PolicyRule{
		Judge: builtin.Citations, Domain: "medical",
		Reasons: map[string]judge.Switch{judge.ReasonUncitedClaims: {High: judge.SwitchOn}},
	})
	_, err := db.SetPolicy(ctx, s.operator(), project.Name, p, ruleComment)
	return err
}

// demoRerun judges the pilot again by the present version.
func demoRerun(ctx context.Context, judges *harnesses, project string) error {
	h, err := judges.of(ctx, project)
	if err != nil {
		return err
	}
	j, ok := h.Judge(builtin.Citations)
	if !ok {
		return fmt.Errorf("the demo's judge %s is not there", builtin.Citations)
	}
	ask := store.RerunAsk{Kind: store.RerunVersion, Judge: j.Name, Run: pilotRun, Target: judge.Planned{
		Judge: j.Name, PromptVersion: j.PromptVersion, Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment,
	}}
	who := judges.state.operator()
	estimate, err := judges.db.EstimateRerun(ctx, who, project, ask, store.Price{})
	if err != nil {
		return err
	}
	if _, err := judges.db.StartRerun(ctx, who, project, ask, estimate); err != nil {
		return err
	}
	return judges.rerunAll(ctx)
}

// set imports a set, or the first traces of it; 0: all.
func (i *importer) set(ctx context.Context, set demo.Set, first int) error {
	src, err := set.Open()
	if err != nil {
		return err
	}
	var text io.Reader = src
	if first > 0 {
		text = beginning(src, first)
	}
	f, err := i.state.readTraces(set.Name+".jsonl", text, -1, src.Close, tracefile.Options{Judge: i.harness.Judge, Stakes: i.harness.StakesOf}, "importing")
	if err != nil {
		return err
	}
	err = i.traces(ctx, f)
	return errors.Join(err, f.end(i.state))
}

// beginning of a text: its first lines. A fault of it comes when it is read.
func beginning(src io.Reader, n int) io.Reader {
	var b bytes.Buffer
	lines := bufio.NewReader(src)
	for range n {
		line, err := lines.ReadBytes('\n')
		b.Write(line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return io.MultiReader(&b, failing{err})
		}
	}
	return &b
}

// failing reads nothing but an error.
type failing struct{ err error }

// Read is part of io.Reader.
func (f failing) Read([]byte) (int, error) { return 0, f.err }

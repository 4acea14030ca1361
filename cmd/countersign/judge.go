package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/tracefile"
)

type judgeCmd struct {
	File string   `arg:"" help:"Trace file: JSONL, a JSON array, or CSV; - is standard input."`
	Only []string `name:"judge" help:"Judge to use, whatever the traces ask for; may be repeated." placeholder:"NAME"`
	judgesFlag
	engineFlags
	lineFlag
	BaseURL string `name:"base-url" help:"Address of an OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`
	Out     string `help:"Write the evaluations to this file instead of standard output. An interrupted run leaves FILE.part, and the same command goes on from it." placeholder:"FILE"`
	RunName string `name:"run" help:"Name the run of the traces, whatever the file says." placeholder:"NAME"`
}

// Run judges a file without a database.
func (c judgeCmd) Run(ctx context.Context, s *state) (err error) {
	h, err := c.harness(s)
	if err != nil {
		return err
	}
	f, err := s.openTraces(ctx, inputFile{c.File, c.File}, tracefile.Options{MaxLine: c.MaxLine, Judge: h.Judge, Stakes: h.StakesOf}, "judging")
	if err != nil {
		return err
	}
	out, err := s.openEvaluations(c.Out)
	if err != nil {
		return errors.Join(err, f.close())
	}
	j := judging{state: s, harness: h, file: f, out: out, run: c.RunName}
	err = j.all(ctx, c.Concurrency)
	err = errors.Join(err, f.end(s))
	err = out.end(err)
	s.say("%s", j.summary())
	if err != nil {
		return err
	}
	if f.refused > 0 || j.failed > 0 {
		return errFailed
	}
	return nil
}

func (c judgeCmd) harness(s *state) (*harness.Harness, error) {
	own, err := c.own()
	if err != nil {
		return nil, err
	}
	all, err := catalogue(own)
	if err != nil {
		return nil, err
	}
	engines, err := c.engineFlags.engines(s, c.BaseURL)
	if err != nil {
		return nil, err
	}
	h, err := harness.New(harness.Config{
		Judges: all, Default: builtin.Default(), Only: c.Only,
		Engines: engines.all, Engine: engines.engine, Model: engines.model, EngineByName: engines.byName,
		Key: fenceKey(s), Now: s.now, MaxTokens: c.MaxTokens,
	})
	if err != nil {
		return nil, err
	}
	for _, name := range c.Only {
		if _, ok := h.Judge(name); !ok {
			var known []string
			for _, j := range all {
				known = append(known, j.Name)
			}
			return nil, &judge.UnknownJudgeError{Name: name, Known: known}
		}
	}
	return h, nil
}

// fenceKey is the key of the fences around trace text. Where the installation
// has a key, the same trace gives the same prompt again; else the key is of
// this run only, since no author of a trace may know it.
func fenceKey(s *state) []byte {
	if key := s.env("COUNTERSIGN_SESSION_KEY"); key != "" {
		sum := sha256.Sum256([]byte("fences of judge prompts\x00" + key))
		return sum[:]
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails: crypto/rand ends the program instead
	return key
}

// judging is one run over one file. Traces are read only as far ahead as there
// are evaluations in the making, and evaluations are written in the order of
// the file.
type judging struct {
	state   *state
	harness *harness.Harness
	file    *traceFile
	out     *evaluationFile
	run     string

	traces, made, kept, failed int // failed: the judge failed for good
	statuses                   map[judge.Status]int
	verdicts                   map[judge.Verdict]int
	costUSD                    float64
}

// made is an evaluation, or why it was not made.
type made struct {
	evaluation judge.Evaluation
	err        error
}

// all judges the whole file. When ctx ends, evaluations under way end with it
// and those that are made are written.
func (j *judging) all(ctx context.Context, concurrency int) error {
	j.statuses, j.verdicts = map[judge.Status]int{}, map[judge.Verdict]int{}
	// The channel of channels keeps the order; its size bounds the memory.
	inOrder := make(chan chan made, 4*concurrency)
	slots := make(chan struct{}, concurrency)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	var readErr error
	var workers sync.WaitGroup
	go func() {
		defer close(inOrder)
		readErr = j.plan(ctx, func(t *judge.Trace, p judge.Planned) bool {
			select {
			case slots <- struct{}{}:
			case <-ctx.Done():
				return false
			}
			result := make(chan made, 1)
			workers.Go(func() {
				e, _, err := j.harness.Evaluate(ctx, t, p)
				<-slots
				result <- made{e, err}
			})
			inOrder <- result
			return true
		})
		workers.Wait()
	}()

	var writeErr error
	for result := range inOrder {
		m := <-result
		if m.err != nil || writeErr != nil {
			continue // told to stop: the rest that is made is still written
		}
		j.count(m.evaluation)
		if writeErr = j.out.write(m.evaluation); writeErr != nil {
			cancel()
		}
	}
	if writeErr != nil {
		return fmt.Errorf("write evaluations: %w", writeErr)
	}
	return readErr
}

// plan reads the file and hands each evaluation that is not made yet to start,
// until that returns false.
func (j *judging) plan(ctx context.Context, start func(*judge.Trace, judge.Planned) bool) error {
	for {
		if err := stopped(ctx); err != nil {
			return err
		}
		t, _, err := j.file.next(j.state)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if j.run != "" {
			t.Run = j.run
		}
		planned, err := j.harness.Plan(&t)
		if err != nil { // an unknown judge, which the reader has refused already
			return err
		}
		j.traces++
		hashes := judge.TraceHashes(t)
		for _, p := range planned {
			if j.out.has(judge.EvaluationID(&t, hashes, p)) {
				j.kept++
				continue
			}
			if !start(&t, p) {
				return stopped(ctx)
			}
		}
	}
}

func (j *judging) count(e judge.Evaluation) {
	j.made++
	j.statuses[e.Status]++
	j.verdicts[e.Verdict]++
	j.costUSD += e.CostUSD
	if judgeFailed(e) {
		j.failed++
	}
	j.file.progress.describe("judging %s, %s made", j.file.name, thousands(j.made))
}

func judgeFailed(e judge.Evaluation) bool {
	for _, r := range e.Reasons {
		if r.Code == judge.ReasonJudgeFailed {
			return true
		}
	}
	return false
}

func (j *judging) summary() string {
	text := fmt.Sprintf("%s, %s: %s accepted, %s for review, %s refused; %s pass, %s borderline, %s fail, %s without a verdict; %s refused",
		plural(j.traces, "trace", "traces"), plural(j.made, "evaluation", "evaluations"),
		thousands(j.statuses[judge.Accepted]), thousands(j.statuses[judge.InReview]), thousands(j.statuses[judge.Refused]),
		thousands(j.verdicts[judge.Pass]), thousands(j.verdicts[judge.Borderline]), thousands(j.verdicts[judge.Fail]),
		thousands(j.verdicts[""]),
		plural(j.file.refused, "line", "lines"))
	if j.kept > 0 {
		text += fmt.Sprintf("; %s kept from before", thousands(j.kept))
	}
	if j.costUSD > 0 {
		text += fmt.Sprintf("; $%.4f", j.costUSD)
	}
	if j.failed > 0 {
		text += fmt.Sprintf("\n%s could not be judged: the reasons say why (judge_failed)", plural(j.failed, "evaluation", "evaluations"))
	}
	return text
}

package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"time"

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
	BaseURL  string  `name:"base-url" help:"Address of an OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`
	Out      string  `help:"Write the evaluations to this file instead of standard output. An interrupted run leaves files beside it (FILE.part, FILE.replies), and the same command goes on from them; with other arguments it is refused." placeholder:"FILE"`
	Force    bool    `help:"Replace the file of --out that is there."`
	Policy   string  `help:"Policy as YAML, as policy show prints it: what people must see, what is drawn for audit, where texts may go, which models judge, the budget. Without: the default one, and no audits." placeholder:"FILE"`
	Budget   float64 `help:"Most that the calls of the run may cost together, in dollars; it stops before that. The worst cost of each call under way is set aside, so a little stays unspent." placeholder:"USD"`
	Attempts string  `help:"Also write every attempt, with its full prompt and raw reply, to this file, one a line." placeholder:"FILE"`
	RunName  string  `name:"run" help:"Name the run of the traces, whatever the file says." placeholder:"NAME"`
}

// Run judges a file without a database.
func (c judgeCmd) Run(ctx context.Context, s *state) error {
	j, err := c.judged(ctx, s, s.stdout, nil)
	if err != nil {
		return err
	}
	if j.file.refused > 0 || j.tally.failed > 0 {
		return errFailed
	}
	return nil
}

// judged judges the whole file. Evaluations go to --out, else to plain; what
// watch gives is told of each, also of those that earlier runs left; it may be nil.
func (c judgeCmd) judged(ctx context.Context, s *state, plain io.Writer, watch func(*harness.Harness) watcher) (_ *judging, err error) {
	policy, err := c.policy(s)
	if err != nil {
		return nil, err
	}
	engines, err := c.enginesUnder(s, c.BaseURL, policy)
	if err != nil {
		return nil, err
	}
	all, err := c.known(s)
	if err != nil {
		return nil, err
	}
	c.tellUnknown(s, policy, all)
	budget, err := c.budget(s, engines, policy)
	if err != nil {
		return nil, err
	}
	if c.Out != "" {
		if err := c.readable(); err != nil {
			return nil, err
		}
		if err := beginOutput(c.Out, c.Force, c.arguments(s, all, engines, policy)); err != nil {
			return nil, err
		}
		defer func() {
			if err != nil {
				err = errors.Join(err, forgetEmpty(c.Out))
			}
		}()
	}
	// Replies are kept beside a file only: what goes to a pipe can't be gone on
	// with.
	var replies *journal
	key := fenceKey(s)
	if c.Out != "" && engines.engine == judge.EngineOpenAI {
		if replies, err = openJournal(c.Out+repliesSuffix, key); err != nil {
			return nil, err
		}
		key = replies.key
	}
	if key == nil {
		key = randomKey()
	}
	purse, err := purseOf(ctx, budget, replies)
	if err != nil {
		return nil, errors.Join(err, replies.close())
	}
	breakers := &harness.Breakers{Log: s.log, Misdirected: true}
	h, err := c.harness(s, all, engines, policy, key, replies, purse, breakers, newTurns(ctx, c.Concurrency))
	if err != nil {
		return nil, errors.Join(err, replies.close())
	}
	out, err := s.openEvaluations(c.Out, plain, c.Attempts, replies)
	if err != nil {
		return nil, errors.Join(err, replies.close())
	}
	file, err := s.openCounted(ctx, inputFile{c.File, c.File}, tracefile.Options{MaxLine: c.MaxLine, Judge: h.Judge, Stakes: h.StakesOf})
	if err != nil {
		return nil, errors.Join(err, out.abandon())
	}
	j := newJudging(s, h, file, out, c.RunName, policy, breakers.Down)
	if watch != nil {
		j.watch = watch(h)
	}
	breakers.Changed = j.progress.outage
	atOnce := c.Concurrency
	if engines.engine == judge.EngineOpenAI {
		atOnce += ahead(c.Concurrency)
	}
	defer roomyHeap(s)()
	err = budgetOver(j.all(ctx, atOnce), budget, c.Out)
	err = errors.Join(err, file.end(s))
	err = out.end(err)
	s.say("%s", j.summary())
	if err != nil {
		return nil, err
	}
	return j, nil
}

// known are the judges that there are; each that is asked for is among them.
func (c judgeCmd) known(s *state) ([]judge.Judge, error) {
	builtins, err := c.builtins(s)
	if err != nil {
		return nil, err
	}
	own, err := c.own()
	if err != nil {
		return nil, err
	}
	all, err := catalogue(builtins, own)
	if err != nil {
		return nil, err
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(all, func(j judge.Judge) bool { return j.Name == name }) {
			var known []string
			for _, j := range all {
				known = append(known, j.Name)
			}
			return nil, &judge.UnknownJudgeError{Name: name, Known: known}
		}
	}
	return all, nil
}

func (c judgeCmd) harness(s *state, all []judge.Judge, e engines, policy judge.Policy, key []byte, replies *journal, purse *harness.Purse, breakers *harness.Breakers, turns *turns) (*harness.Harness, error) {
	config := e.configure(harness.Config{
		Judges: all, Default: builtin.Default(), Only: c.Only, Key: key, Now: s.now, Breakers: breakers,
		Policy: policy, Audit: c.Policy != "", Turn: turns.take, NoPrompts: c.Attempts == "",
	})
	// A nil pointer in an interface is no nil interface.
	if replies != nil {
		config.Ledger = replies
	}
	if purse != nil {
		config.Purse = purse
	}
	return harness.New(config)
}

// fenceKey is the key of the fences around trace text that the installation's
// own key gives; nil without one. The same trace then gives the same prompt
// again.
func fenceKey(s *state) []byte {
	key := s.env("COUNTERSIGN_SESSION_KEY")
	if key == "" {
		return nil
	}
	sum := sha256.Sum256([]byte("fences of judge prompts\x00" + key))
	return sum[:]
}

// randomKey is a key of one run, since no author of a trace may know it.
func randomKey() []byte {
	key := make([]byte, 32)
	rand.Read(key) // never fails: crypto/rand ends the program instead
	return key
}

// judgeGrace is how long evaluations under way may go on after the command was
// told to stop: a call that is paid for brings its reply.
const judgeGrace = 20 * time.Second

// outliving gives a context that ends some time after ctx does.
func outliving(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() { forget(); cancel(context.Canceled) }
}

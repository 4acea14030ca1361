// Benchdata builds a large project for benchmarks, in a database of its own:
// traces, evaluations with full prompts and replies, a queue, decisions and
// labels. `make bench-data` runs it. It is a tool of whoever works on
// Countersign and is not shipped to users.
//
// Everything goes through the store and the harness as a project's own does, so
// that every count, audit event and index is what the product makes. The texts
// are new ones, said by a Markov chain that learnt from the demo's real traces;
// no model is called. The same seed gives the same texts. It goes on where it
// was cut. It must never write past the store.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/pprof"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

var operator = store.Operator("benchdata")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "benchdata:", err)
		}
		os.Exit(1)
	}
}

// build is one run of the program.
type build struct {
	db      *store.Store
	harness *harness.Harness
	make    maker
	to      io.Writer // progress
	profile string    // folder for CPU profiles; empty: none
}

func run(ctx context.Context, args []string, to io.Writer) (err error) {
	flags := flag.NewFlagSet("benchdata", flag.ContinueOnError)
	flags.SetOutput(to)
	address := flags.String("to", "", "the `URL` of an empty database, or of one that this program began: sqlite:///tmp/x.db or postgres://…")
	file := flags.String("write", "", "write the traces to a `file` instead, as JSON lines without labels")
	evaluations := flags.Int("evaluations", 1_000_000, "how many; four to a trace")
	seed := flags.Uint64("seed", 1, "of the texts")
	unique := flags.Bool("unique-sources", false, "give each trace sources of its own; else five traces cite the same")
	profile := flags.String("profile", "", "a `folder` for a CPU profile of each part of the work")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *evaluations < judgesOfTrace || (*address == "") == (*file == "") {
		return errors.New("give --to or --write, and at least 4 --evaluations")
	}
	said, err := learn()
	if err != nil {
		return err
	}
	b := &build{make: maker{said: said, seed: *seed, traces: *evaluations / judgesOfTrace, unique: *unique}, to: to, profile: *profile}
	if *file != "" {
		return b.write(ctx, *file)
	}
	if b.db, err = store.Open(ctx, store.Options{URL: *address}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.db.Close()) }()
	return b.all(ctx)
}

// defaultJudges are the four that judge every trace.
func defaultJudges() []string { return builtin.Default() }

func (b *build) all(ctx context.Context) error {
	if _, err := b.db.EnsureProject(ctx, operator, store.DefaultProject); err != nil {
		return err
	}
	policy := judge.DefaultPolicy()
	policy.Blind, policy.BlindShare = "share", 0.8
	policy.RandomAudit = 0.02
	project, err := b.db.ProjectNamed(ctx, store.DefaultProject)
	if err != nil {
		return err
	}
	if project.Policy.RandomAudit != policy.RandomAudit { // the first time
		if project, err = b.db.SetPolicy(ctx, operator, store.DefaultProject, policy, ""); err != nil {
			return err
		}
	}
	judges := builtin.Judges()
	if err := b.db.SaveJudges(ctx, operator, store.DefaultProject, judges); err != nil {
		return err
	}
	if b.harness, err = newHarness(b.make, judges, project.Policy); err != nil {
		return err
	}
	actors, err := b.people(ctx)
	if err != nil {
		return err
	}
	decide := func(ctx context.Context) error { return b.decide(ctx, actors, b.make.traces*judgesOfTrace/20) }
	for _, part := range []struct {
		name string
		do   func(context.Context) error
	}{{"import", b.load}, {"judge", b.judge}, {"decide", decide}} {
		if err := b.profiled(part.name, func() error { return part.do(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// profiled does one part of the work under a profile, if one is wanted.
func (b *build) profiled(name string, do func() error) (err error) {
	if b.profile == "" {
		return do()
	}
	f, err := os.Create(filepath.Join(b.profile, name+".pprof"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return do()
}

// write writes the traces for `countersign import`.
func (b *build) write(ctx context.Context, name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := json.NewEncoder(f)
	lines.SetEscapeHTML(false)
	for n := range b.make.traces {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := b.make.trace(n)
		t.Labels = nil
		if err := lines.Encode(t); err != nil {
			return err
		}
	}
	return nil
}

package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// ItemError says which item of a batch is bad, so that the caller can leave it
// out and import the rest.
type ItemError struct {
	Index int // in the batch, from 0
	ID    string
	Err   error
}

func (e *ItemError) Error() string { return fmt.Sprintf("trace %s: %v", e.ID, e.Err) }

// Unwrap gives the fault itself, usually a *FieldError.
func (e *ItemError) Unwrap() error { return e.Err }

// incoming is a trace with everything computed that needs no database: hashing
// and packing cost more than writing, and writers wait for each other.
type incoming struct {
	trace  judge.Trace
	hashes judge.Hashes
	texts  []text // the body, first, and its sources; none before they are packed
	title  string
	plan   []incomingPlan
	labels []incomingLabel
}

type incomingPlan struct {
	judge.Planned
	report   string // the recorded report as JSON; empty for other engines
	judgment text   // the same packed; before that only its hash
	identity int64
}

type incomingLabel struct {
	judge.HumanLabel
	hash      string
	findings  string // JSON
	abstained bool
	at        time.Time // zero: the file does not say
}

// prepareImport checks and hashes on every processor. Of several bad items the
// first is reported. What is known already needs no more than that.
func prepareImport(items []ImportItem, used map[string]inUse, policy judge.Policy) ([]incoming, error) {
	prepared := make([]incoming, len(items))
	return prepared, onEvery(items, func(i int) (err error) {
		prepared[i], err = prepareItem(items[i], used, policy)
		return err
	})
}

// packImport packs the texts of the items that fresh says are new.
func packImport(items []ImportItem, prepared []incoming, fresh func(incoming) bool, dictionary func(traceBody) (*pack.Dictionary, error)) error {
	return onEvery(items, func(i int) error {
		in := &prepared[i]
		if !fresh(*in) {
			return nil
		}
		body, err := newTraceBody(in.trace)
		if err != nil {
			return err
		}
		dict, err := dictionary(body)
		if err != nil {
			return err
		}
		in.texts = body.texts(dict)
		for k := range in.plan {
			in.plan[k].judgment = newText(in.plan[k].report, dict)
		}
		return nil
	})
}

// onEvery runs do for every item, on every processor.
func onEvery(items []ImportItem, do func(i int) error) error {
	faults := make([]error, len(items))
	workers := min(runtime.GOMAXPROCS(0), len(items))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(items); i += workers {
				faults[i] = do(i)
			}
		})
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			return &ItemError{Index: i, ID: items[i].Trace.ID, Err: err}
		}
	}
	return nil
}

func prepareItem(item ImportItem, used map[string]inUse, policy judge.Policy) (in incoming, err error) {
	in.trace = item.Trace
	if in.trace.Stakes == "" {
		in.trace.Stakes = policy.StakesOf(in.trace.Domain)
	}
	switch {
	case in.trace.ID == "":
		return in, invalid("id", "is missing")
	case in.trace.Stakes != judge.HighStakes && in.trace.Stakes != judge.StandardStakes:
		return in, invalid("stakes", "is %q: it is high or standard", in.trace.Stakes)
	case !utf8.ValidString(in.trace.Output):
		return in, invalid("output", "is not valid UTF-8")
	}
	in.hashes, in.title = judge.TraceHashes(in.trace), in.trace.Title()
	if in.plan, err = preparePlan(item); err != nil {
		return in, err
	}
	for i, l := range in.trace.Labels {
		ready, err := prepareLabel(l, used[l.Judge])
		if err != nil {
			return in, fmt.Errorf("labels[%d]: %w", i, err)
		}
		in.labels = append(in.labels, ready)
	}
	return in, nil
}

func preparePlan(item ImportItem) ([]incomingPlan, error) {
	var plan []incomingPlan
	for _, p := range item.Plan {
		ready := incomingPlan{Planned: p}
		if p.Engine == judge.EngineRecorded && !p.Refused() {
			if p.Judgment < 0 || p.Judgment >= len(item.Trace.Judgments) {
				return nil, invalid("judgments", "has no report number %d, which was planned for judge %s", p.Judgment+1, p.Judge)
			}
			body, err := json.Marshal(item.Trace.Judgments[p.Judgment])
			if err != nil {
				return nil, err
			}
			ready.report, ready.judgment.hash = string(body), judge.HashText(string(body))
		}
		ready.identity = identity(p, ready.judgment.hash)
		plan = append(plan, ready)
	}
	return plan, nil
}

// identity tells the evaluations of one trace apart: the first 8 bytes of the
// SHA-256 of what Planned says and which recorded report it is.
func identity(p judge.Planned, judgmentHash string) int64 {
	h := sha256.New()
	parts := []string{p.Judge, p.PromptVersion, p.Engine, p.Model, judgmentHash}
	if p.Endpoint != "" || p.Samples > 1 { // else as it was before these were there
		parts = append(parts, p.Endpoint, strconv.Itoa(samples(p)))
	}
	for _, part := range parts {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

// samples is how many calls vote on the verdict, at least 1.
func samples(p judge.Planned) int { return max(1, p.Samples) }

func prepareLabel(l judge.HumanLabel, u inUse) (ready incomingLabel, err error) {
	findings, err := json.Marshal(list(l.Findings))
	if err != nil {
		return ready, err
	}
	ready = incomingLabel{HumanLabel: l, findings: string(findings)}
	if l.At != nil {
		ready.at = l.At.UTC().Truncate(time.Microsecond)
	}
	if l.Stratum == "" {
		ready.Stratum = judge.StratumImported
	}
	if p := l.InclusionProbability; p != nil && judge.KnownChance(*p) == 0 {
		return ready, invalid("inclusion_probability", "is %v: it is at least %s and at most 1", *p, judge.LeastChanceText)
	}
	if l.Verdict != "" {
		if _, err := judge.ParseVerdict(string(l.Verdict)); err != nil {
			return ready, invalid("verdict", "is %q: it is pass, borderline or fail", l.Verdict)
		}
	}
	switch own, known := u.named(l.Label); {
	case l.Judge == "":
		return ready, invalid("judge", "is missing")
	case l.Label == "" && l.Verdict == "":
		return ready, invalid("label", "is missing, and so is verdict: one of them is needed")
	case l.Label == "":
	case !known && len(u.labels) > 0:
		return ready, invalid("label", "%q is not a label of judge %s", l.Label, l.Judge)
	case known && l.Verdict != "" && own.Verdict != "" && l.Verdict != own.Verdict:
		return ready, invalid("verdict", "is %s, and label %q of judge %s means %s", l.Verdict, l.Label, l.Judge, own.Verdict)
	case known:
		ready.abstained = own.Abstain
		if l.Verdict == "" {
			ready.Verdict = own.Verdict
		}
	}
	ready.hash, err = labelHash(ready)
	return ready, err
}

// labelHash tells labels of one reviewer on one trace apart by what they say.
// When and by which design they came does not count: an export fills that in,
// and what was exported and comes back is the same label.
func labelHash(l incomingLabel) (string, error) {
	body, err := json.Marshal([]any{l.Label, l.Verdict, l.findings, l.Comment, l.Adjudicated})
	if err != nil {
		return "", err
	}
	return judge.HashText(string(body)), nil
}

// list makes a nil slice an empty one, which JSON writes as [].
func list[T any](values []T) []T {
	if values == nil {
		return []T{}
	}
	return values
}

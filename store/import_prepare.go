package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"runtime"
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
	body   traceBody
	texts  []text // the body, first, and its sources
	title  string
	plan   []incomingPlan
	labels []incomingLabel
}

type incomingPlan struct {
	judge.Planned
	judgment text // the recorded report as JSON; none for other engines
	identity int64
}

type incomingLabel struct {
	judge.HumanLabel
	hash      string
	findings  string // JSON
	abstained bool
	at        time.Time // zero: the file does not say
}

// prepareImport prepares on every processor. Of several bad items the first is
// reported.
func prepareImport(items []ImportItem, used map[string]inUse, dictionary func(traceBody) (*pack.Dictionary, error)) ([]incoming, error) {
	prepared, faults := make([]incoming, len(items)), make([]error, len(items))
	workers := min(runtime.GOMAXPROCS(0), len(items))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for i := w; i < len(items); i += workers {
				prepared[i], faults[i] = prepareItem(items[i], used, dictionary)
			}
		})
	}
	wait.Wait()
	for i, err := range faults {
		if err != nil {
			return nil, &ItemError{Index: i, ID: items[i].Trace.ID, Err: err}
		}
	}
	return prepared, nil
}

func prepareItem(item ImportItem, used map[string]inUse, dictionary func(traceBody) (*pack.Dictionary, error)) (in incoming, err error) {
	in.trace = item.Trace
	if in.trace.Stakes == "" {
		in.trace.Stakes = judge.DefaultStakes(in.trace.Domain)
	}
	switch {
	case in.trace.ID == "":
		return in, invalid("id", "is missing")
	case in.trace.Stakes != judge.HighStakes && in.trace.Stakes != judge.StandardStakes:
		return in, invalid("stakes", "is %q: it is high or standard", in.trace.Stakes)
	case !utf8.ValidString(in.trace.Output):
		return in, invalid("output", "is not valid UTF-8")
	}
	in.hashes = judge.TraceHashes(in.trace)
	if in.body, err = newTraceBody(in.trace); err != nil {
		return in, err
	}
	dict, err := dictionary(in.body)
	if err != nil {
		return in, err
	}
	in.texts, in.title = in.body.texts(dict), in.trace.Title()
	if in.plan, err = preparePlan(item, dict); err != nil {
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

func preparePlan(item ImportItem, dict *pack.Dictionary) ([]incomingPlan, error) {
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
			ready.judgment = newText(string(body), dict)
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
	for _, part := range []string{p.Judge, p.PromptVersion, p.Engine, p.Model, judgmentHash} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

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
	if p := l.InclusionProbability; p != nil && (*p <= 0 || *p > 1) {
		return ready, invalid("inclusion_probability", "is %v: it lies above 0 and at most at 1", *p)
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

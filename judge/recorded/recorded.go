// Package recorded is the engine for reports that came with a trace: another
// system's judge, or an earlier run. It hands them on exactly as they came, so
// that they are validated, checked, recomputed and routed like a fresh one.
//
// It never calls anything, never mends a report, and never gives one that the
// trace did not bring.
package recorded

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// Engine is the engine judge.EngineRecorded. The zero value is ready.
type Engine struct{}

var _ judge.Reporter = Engine{}

// Name is judge.EngineRecorded.
func (Engine) Name() string { return judge.EngineRecorded }

// Report gives the recorded judgment that was planned. It is an error when the
// trace brings none at that index, or one for another judge.
func (Engine) Report(_ context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned) (judge.Given, error) {
	if p.Judgment < 0 || p.Judgment >= len(t.Judgments) {
		return judge.Given{}, fmt.Errorf("recorded: trace %s has no judgment %d; it brings %d", t.ID, p.Judgment, len(t.Judgments))
	}
	given := t.Judgments[p.Judgment]
	if given.Judge != j.Name {
		return judge.Given{}, fmt.Errorf("recorded: judgment %d of trace %s is for judge %s, not %s", p.Judgment, t.ID, given.Judge, j.Name)
	}
	if len(given.Output) > 0 {
		return judge.Given{Report: given.Output}, nil
	}
	return judge.Given{Raw: given.Raw}, nil
}

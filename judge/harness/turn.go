package harness

import (
	"context"

	"github.com/countersign/countersign/judge"
)

// NoTurnError says that an evaluation was not begun, because no more were to
// begin. It says nothing of the evaluation, which belongs back in the queue.
type NoTurnError struct{ err error }

func (e *NoTurnError) Error() string { return e.err.Error() }

// Unwrap is what Config.Turn said.
func (e *NoTurnError) Unwrap() error { return e.err }

// inTurn is send when it is the call's turn. The wait does not count as time of
// the evaluation.
func (h *Harness) inTurn(ctx context.Context, l *line, pay *payment, c judge.Conversation, p judge.Params) (judge.Reply, int, error) {
	if h.config.Turn == nil {
		return h.send(ctx, l, pay, c, p)
	}
	resume := judge.Waiting(ctx)
	done, err := h.config.Turn(ctx, !l.called)
	resume()
	switch {
	case err != nil && ctx.Err() != nil:
		return judge.Reply{}, 0, context.Cause(ctx)
	case err != nil:
		return judge.Reply{}, 0, &NoTurnError{err}
	}
	defer done()
	l.called = true
	return h.send(ctx, l, pay, c, p)
}

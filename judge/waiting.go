package judge

import "context"

type waitingKey struct{}

// WithWaiting gives a context whose holder learns when work under it only waits:
// pause is called when a wait begins, and what it returns when it ends.
func WithWaiting(ctx context.Context, pause func() (resume func())) context.Context {
	return context.WithValue(ctx, waitingKey{}, pause)
}

// Waiting says that the caller waits for its turn, for a limit of the endpoint
// or a free place, and does not work: the time does not count against the
// evaluation. The returned function ends the wait; it may be called once only.
func Waiting(ctx context.Context) (resume func()) {
	if pause, ok := ctx.Value(waitingKey{}).(func() func()); ok {
		return pause()
	}
	return func() {}
}

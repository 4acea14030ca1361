package judge

import "context"

// NanoUSD is an amount of money in billionths of a dollar. Sums of it are exact.
type NanoUSD int64

// Purse is the budget that calls of a model are paid from. Nothing is sent that
// it does not hold the worst cost of, so that a budget is never passed: held and
// spent together stay within it. Evaluation and call are the names that a
// ReplyLedger takes.
type Purse interface {
	// Hold reserves the most that a call can cost, before it is sent. While the
	// budget has no room only because of what others hold, it waits for them or
	// for ctx. ok is false when the budget has no room for good: the call is not
	// to be sent, and the work goes back to the queue. Holding a call again that
	// is held raises its hold by amount: a try whose fate is unknown may be billed.
	Hold(ctx context.Context, evaluation, call string, amount NanoUSD) (ok bool, err error)
	// Spent turns all that a call holds into what its reply really cost.
	Spent(ctx context.Context, evaluation, call string, cost NanoUSD) error
	// Drop gives back what a call holds that brought no reply and can't be billed.
	Drop(ctx context.Context, evaluation, call string) error
}

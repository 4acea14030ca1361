package judge

import (
	"context"
	"time"
)

// Budget is an amount of what endpoints limit: calls, and the tokens of their
// prompts.
type Budget struct {
	Requests, Tokens int
}

// MaxPause is the longest pause of an endpoint that processes share. An endpoint
// that asks for more counts as down, and each process asks it again by itself.
const MaxPause = 5 * time.Minute

// BudgetRequest asks for a slice of an endpoint's budget.
type BudgetRequest struct {
	// Endpoint is a name without secrets; the same in every process that calls
	// the endpoint.
	Endpoint string
	// PerMinute is what the endpoint takes in a minute; 0 in a field means that
	// it is not limited, and then nothing of it is granted or counted.
	PerMinute Budget
	// Least is what must be granted for the slice to be of use; a field above
	// PerMinute's counts as PerMinute's. Most is what can be used.
	Least, Most Budget
}

// Allowance is the budget of endpoints that several processes share. A store
// implements it.
//
// It holds approximately: in any minute all processes together are granted at
// most the limit and one slice, which is a second's worth or one call, whichever
// is larger. A process may use a slice a little after it was granted; what it
// does not use is lost.
type Allowance interface {
	// TakeAllowance grants between Least and Most, and no wait; or nothing, and
	// how long to wait before asking again. Nothing is reserved for who waits.
	TakeAllowance(ctx context.Context, r BudgetRequest) (granted Budget, wait time.Duration, err error)
	// PauseEndpoint lets nobody take anything for d from now on, at most
	// MaxPause. A longer pause that holds already is not shortened.
	PauseEndpoint(ctx context.Context, endpoint string, d time.Duration) error
}

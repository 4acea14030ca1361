package judge

import "context"

// CutSteps is what became of cutting one reference into steps.
type CutSteps struct {
	// Steps in order, in the reference's own words. Nil: the model's answer could
	// not be used, and the reference is shown as it is.
	Steps []string
	// Evaluation whose call asked for it, as a ReplyLedger knows it.
	Evaluation string
}

// StepCache keeps references that were cut, over restarts and for all servers of
// a database, so that traces with one reference pay for it once. What could not be
// used is kept too: it would be paid for again and again.
type StepCache interface {
	// CutSteps finds what is kept under a key: a hash of the reference, the model
	// and what it was asked.
	CutSteps(ctx context.Context, key string) (c CutSteps, ok bool, err error)
	// KeepCutSteps keeps it. What is kept already stays.
	KeepCutSteps(ctx context.Context, key string, c CutSteps) error
}

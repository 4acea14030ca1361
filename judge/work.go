package judge

import (
	"context"
	"strings"
	"time"
)

// Unknown stands for the model or prompt version of a recorded report that
// does not say which it was.
const Unknown = "unknown"

// NoJudgment is the Judgment index of a Planned that no recorded report gives.
const NoJudgment = -1

// Planned is one evaluation that a trace gets: which judge, by which engine and
// model. Two Planned of one trace revision that are equal are the same
// evaluation; it is judged once.
type Planned struct {
	Judge         string
	PromptVersion string
	Engine        string
	Model         string
	// Endpoint is the configured name of the one that is asked; empty: the default.
	Endpoint string
	// Samples is how many answers the model is asked for; 0 means 1, and 1 is
	// never written.
	Samples int
	// Judgment is the index in Trace.Judgments of the recorded report, or
	// NoJudgment.
	Judgment int
	// RefusedField names the trace field that the judge needs and the trace
	// lacks; the evaluation is refused and no engine is asked. Empty: none.
	RefusedField string
	// Message says in plain words why it is refused.
	Message string
}

// EngineKey is the key of the planned engine among the configured ones: its name,
// and for another endpoint than the default one "engine/endpoint".
func (p Planned) EngineKey() string { return engineKey(p.Engine, p.Endpoint) }

func engineKey(engine, endpoint string) string {
	if endpoint == "" {
		return engine
	}
	return engine + "/" + endpoint
}

// EngineOfKey is an EngineKey taken apart.
func EngineOfKey(key string) (engine, endpoint string) {
	engine, endpoint, _ = strings.Cut(key, "/")
	return engine, endpoint
}

// Refused reports whether the trace lacks something the judge needs.
func (p Planned) Refused() bool { return p.RefusedField != "" }

// Work is one queued evaluation that a worker holds under a lease.
type Work struct {
	EvaluationID string
	// Fence counts the claims of this evaluation. A result that comes back
	// with an older fence than the stored one is refused.
	Fence   int64
	Project string
	Trace   Trace
	Planned Planned
	// Policy of the project as it was when the work was claimed; nil: the
	// worker's own.
	Policy *Policy
	// Judge is the definition to use; nil means the worker's own judge of the
	// planned name.
	Judge *Judge
}

// Finished is a work item with what came of it. The store writes evaluation,
// attempts and draw in one transaction.
type Finished struct {
	Work       Work
	Evaluation Evaluation
	// Draw says how the evaluation came to be reviewed; nil when it is not.
	Draw *Draw
	// Key is the evaluation's EvaluationID, under which a ReplyLedger kept its
	// replies until now.
	Key string
}

// KeptReply is a reply with the tries it took before.
type KeptReply struct {
	Reply   Reply
	Retries int
	Failure string // the newest of those tries; empty: there was none
}

// ReplyLedger keeps the replies of evaluations that are under way. An
// evaluation may take several calls (a repair); when its server dies between
// two of them, the next one goes on from the replies there are, because a call
// that was paid for is never made again. A list drops the replies of an
// evaluation in the transaction that stores its result.
type ReplyLedger interface {
	// KeptReply finds the reply to a call of an evaluation. call is a hash of
	// the conversation and the parameters.
	KeptReply(ctx context.Context, evaluation, call string) (r KeptReply, ok bool, err error)
	// KeepReply stores a reply before anything is made of it.
	KeepReply(ctx context.Context, evaluation, call string, r KeptReply) error
}

// Claim is what a worker asks a list for.
type Claim struct {
	Worker string // its name; whoever claims under it holds the work
	N      int    // at most; above 0
	Lease  time.Duration
	// Project whose work is wanted, by its name; empty: that of all.
	Project string
	// Engines whose work is wanted, each a Planned.EngineKey; nil: that of all. Work
	// for others stays in the queue, for a worker that has them.
	Engines []string
}

// WorkList is where a worker takes evaluations from and brings results back.
// Implementations keep the promises of the contract: one holder for one claim,
// nothing lost by a crash, a result stored once.
type WorkList interface {
	// ClaimWork gives queued evaluations to a worker until the lease ends. Fewer
	// than it asks for, or none, is no error.
	ClaimWork(ctx context.Context, c Claim) ([]Work, error)
	// FinishWork stores results. Results whose claim was lost are dropped by
	// the list, with an error only if nothing could be stored.
	FinishWork(ctx context.Context, done []Finished) error
	// ExtendWork makes the claims of work last for another lease from now on,
	// and gives back what is no longer this worker's: another one has it, or it
	// was settled. An error says that nothing is known of any claim.
	ExtendWork(ctx context.Context, work []Work, lease time.Duration) (lost []Work, err error)
	// ReleaseWork gives unfinished work back to the queue at once.
	ReleaseWork(ctx context.Context, work []Work) error
}

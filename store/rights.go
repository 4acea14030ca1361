package store

import "context"

// Right is a change that not everybody may make. Each method of the Store that
// makes it checks it too; a server asks first, before it reads what was sent, so
// that nobody learns from a fault of their form what they may not do anyway.
type Right struct {
	action string // as a refusal is recorded
	roles  []Role // nil: people who may decide
}

// The rights, by the change.
var (
	ImportTraces     = Right{"trace.imported", leads}
	QueueEvaluation  = Right{"evaluation.queued", leads}
	RetryEvaluations = Right{"evaluation.retried", leads}
	ExposeEvaluation = Right{"evaluation.exposed", leads}
	RequestReviews   = Right{"evaluation.review_requested", leads}
	RequeueRefusals  = Right{"evaluation.requeued", leads}
	RetryRuns        = Right{"run.retried", leads}
	SetRunBudgets    = Right{"run.budget_set", leads}
	EstimateReruns   = Right{"rerun.listed", readers}
	StartReruns      = Right{"rerun.started", leads}
	StopReruns       = Right{"rerun.stopped", leads}
	LockTestSplits   = Right{"judge.test_split_locked", leads}
	LookAtTestSplits = Right{"judge.test_split_looked", leads}
	PromoteJudges    = Right{"judge.promoted", leads}
	StartShadows     = Right{"judge.shadow_started", leads}
	StopShadows      = Right{"judge.shadow_stopped", leads}
	DrawsLabels      = Right{labelsDrawn, leads}
	ChangePolicy     = Right{"policy.changed", leads}
	DryRunPolicy     = Right{"policy.read", readers}
	ClaimReviews     = Right{"review.claimed", nil}
	RenewClaims      = Right{"review.renewed", nil}
	ReleaseClaims    = Right{"review.released", nil}
	SkipReviews      = Right{"review.skipped", nil}
	DecideReviews    = Right{"decision.made", nil}
	SaveDrafts       = Right{"draft.saved", nil}
	ReopenReviews    = Right{"review.reopened", nil}
	ChangeItems      = Right{"queue.changed", leads}
	SaveViews        = Right{"queue_view.saved", everyone}
	DeleteViews      = Right{"queue_view.deleted", everyone}
	AddMembers       = Right{"user.created", admins}
	ChangeMembers    = Right{"user.changed", admins}
	SetPasswords     = Right{"user.password_set", admins}
	DisableMembers   = Right{"user.disabled", admins}
	EnableMembers    = Right{"user.enabled", admins}

	ProposeCorrection  = Right{correctionProposed, nil}
	AcceptCorrection   = Right{correctionAccepted, leads}
	DeclineCorrection  = Right{correctionDeclined, leads}
	WithdrawCorrection = Right{correctionWithdrawn, nil}
	AddComments        = Right{commentAdded, nil}
	WithdrawComments   = Right{commentWithdrawn, nil}
	ResolveComments    = Right{commentResolved, nil}
	UndoDecisions      = Right{decisionUndone, nil}
	AddSecondOpinions  = Right{opinionAdded, nil}
	RaiseOpinions      = Right{"review.opinions_raised", leads}
	ReassignReviews    = Right{"review.reassigned", leads}

	SuspendJudges    = Right{judgeSuspended, leads}
	ResumeJudges     = Right{judgeResumed, leads}
	ReleaseRuns      = Right{runReleased, leads}
	WithdrawReleases = Right{runReleaseWithdrawn, leads}
	FreezeBaselines  = Right{"drift.baseline_frozen", leads}
	CloseAlarms      = Right{driftClosed, leads}
	SetSentinels     = Right{"sentinel.set", leads}
)

// Permit refuses who lacks a right with ErrForbidden, and records the attempt.
// subject is what it would have been done to, such as "project:default".
func (s *Store) Permit(ctx context.Context, a Actor, r Right, subject string) (err error) {
	defer wrap(&err, "ask for the right to change %s", subject)
	if r.roles == nil {
		return s.authoriseDecider(ctx, a, r.action, subject)
	}
	return s.authorise(ctx, a, r.roles, r.action, subject)
}

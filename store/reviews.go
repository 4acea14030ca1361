package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/countersign/countersign/judge"
)

// Review is an item of the queue with all that a person needs to decide it,
// and nothing that is sealed for them.
type Review struct {
	QueueItem
	Project string
	Run     string // the newest of the runs that hold the trace; empty: none
	// Trace is without recorded judgments: the one that counts is Evaluation.
	// Human labels are left out too as long as any evaluation of the trace is
	// sealed for the actor, because they would tell.
	Trace         judge.Trace
	Revision      int
	Hashes        judge.Hashes
	JudgeName     string
	PromptVersion string
	Labels        []judge.Label // the judge's scale, best first
	Ordinal       bool          // the order of Labels means something
	Mine          bool          // the actor holds the claim, live or run out
	// Evaluation is what the judge said; nil while sealed.
	Evaluation *judge.Evaluation
	First      *Answer // what the actor said before the reveal
	Draft      *Draft  // what the actor has typed and not signed
	Comments   Comments
	// Correction is one that the item waits for, or by which it was closed.
	Correction *Correction
	Decisions  []Decision // oldest first; empty while sealed
	// PeersSealed says that what others said is left out of decisions, answers
	// and events: the actor may still answer, and has not.
	PeersSealed bool
	// Answers are what others said before the reveal, oldest first; empty while
	// sealed.
	Answers []GivenAnswer
	// HandedOn are who passed the item on, while their decisions are sealed.
	HandedOn []HandedOn
	// Screen is what is shown here, by versions and hashes: what who signs states.
	Screen Shown
	// Under is what the project's policy means for the item.
	Under judge.Effective
	// LeaseMinutes that a claim of it lasts without renewal.
	LeaseMinutes int
	// ReasonCodes are why the judge may be overridden here.
	ReasonCodes []judge.OverrideReason
	// UndoUntil is until when the actor may take back the newest decision, unless
	// something is built on it; nil: not.
	UndoUntil *time.Time
	Events    []AuditEvent
	Settled   *Decision // the decision that counts, once there is one
	Result    *judge.Result
}

// GivenAnswer is what a person said before the reveal.
type GivenAnswer struct {
	UserID   string
	UserName string
	Answer   Answer
}

// GetReview gives one item as the actor may see it. Roles: all.
func (s *Store) GetReview(ctx context.Context, a Actor, reviewID string) (v Review, err error) {
	defer wrap(&err, "read review %s", reviewID)
	if err := s.authorise(ctx, a, everyone, "review.read", "review:"+reviewID); err != nil {
		return Review{}, err
	}
	// One read transaction: what is sealed and what is shown are of the same
	// moment, so a decision in between can't unseal half of it.
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return Review{}, err
	}
	defer func() { err = errors.Join(err, read.end(ctx)) }()
	return s.readReview(ctx, read, a, reviewID)
}

func (s *Store) readReview(ctx context.Context, q querier, a Actor, reviewID string) (v Review, err error) {
	var at reviewPlace
	if v, at, err = s.readReviewRow(ctx, q, a, reviewID); err != nil {
		return Review{}, err
	}
	items := []QueueItem{v.QueueItem}
	if err := fillReasons(ctx, q, items); err != nil {
		return Review{}, err
	}
	v.QueueItem = items[0]
	if v.Trace, err = traceByBody(ctx, q, at.bodyHash); err != nil {
		return Review{}, err
	}
	runs, err := runsOf(ctx, q, []string{at.traceID})
	if err != nil {
		return Review{}, err
	}
	v.Run, v.Trace.Run = runs[at.traceID], runs[at.traceID]
	if at.traceSealed {
		v.Trace.Judgments, v.Trace.Labels = nil, nil
	} else if v.Trace.Labels, err = importedLabels(ctx, q, at.traceID); err != nil {
		return Review{}, err
	}
	if v.Labels, err = judgeLabels(ctx, q, at.projectID, v.Judge, v.EvaluationID); err != nil {
		return Review{}, err
	}
	if v.First, err = firstAnswer(ctx, q, v.ReviewID, a.UserID); err != nil {
		return Review{}, err
	}
	if v.Draft, err = draftOf(ctx, q, a, v.ReviewID); err != nil {
		return Review{}, err
	}
	if v.Events, err = collect(ctx, q, scanAudit, `
SELECT `+auditColumns+` FROM audit_events WHERE subject IN (?, ?, ?) AND allowed ORDER BY seq`,
		"evaluation:"+v.EvaluationID, "review:"+v.ReviewID, "trace:"+at.traceID); err != nil {
		return Review{}, err
	}
	v.Screen = Shown{TraceRevision: v.Revision, TraceSHA256: v.Hashes.Trace, EvaluationID: v.EvaluationID, PromptVersion: v.PromptVersion,
		PolicyVersion: at.policyVersion}
	if v.PeersSealed, err = peersSealed(ctx, q, a, v.EvaluationID); err != nil {
		return Review{}, err
	}
	know := knowing{v.Sealed, v.PeersSealed}
	if v.Comments, err = commentsOf(ctx, q, a, v.ReviewID, know); err != nil {
		return Review{}, err
	}
	if v.Correction, err = correctionFor(ctx, q, a, v.ReviewID, know); err != nil {
		return Review{}, err
	}
	if v.Sealed || v.PeersSealed {
		if v.HandedOn, err = handedOn(ctx, q, v.ReviewID); err != nil {
			return Review{}, err
		}
	}
	if v.Sealed {
		v.Events = sealEvents(v.Events)
		v.UndoUntil, err = undoOfOwn(ctx, q, a, v.ReviewID, at.undoTime, s.clock())
		return v, err
	}
	if v.PeersSealed {
		v.Events = sealPeerEvents(v.Events, a)
	}
	return v, v.reveal(ctx, q, a, at, s.clock())
}

// reveal adds what a sealed item keeps back.
func (v *Review) reveal(ctx context.Context, q querier, a Actor, at reviewPlace, now time.Time) error {
	e, err := judgedEvaluation(ctx, q, v.EvaluationID)
	if err != nil {
		return err
	}
	e.Run, e.Reasons = v.Run, v.Reasons
	v.Evaluation, v.Result = &e, e.Result
	v.Screen.ReportSHA256 = reportHash(e.Report)
	if v.Decisions, err = decisionsOf(ctx, q, a, v.EvaluationID); err != nil {
		return err
	}
	if !v.PeersSealed {
		if v.Answers, err = collect(ctx, q, func(rows *sql.Rows, g *GivenAnswer) error {
			return scanAnswer(rows.Scan, &g.Answer, &g.UserID, &g.UserName)
		}, `
SELECT f.user_id, u.name, `+answerColumns+` FROM first_answers f JOIN users u ON u.id = f.user_id
WHERE f.review_id = ? AND f.user_id <> ? ORDER BY f.answered_at, f.user_id`, v.ReviewID, a.UserID); err != nil {
			return err
		}
	}
	if v.State == stateDecided {
		for i, d := range v.Decisions {
			if d.answers() && !d.OverQuota && d.UndoneAt == nil {
				v.Settled = &v.Decisions[i]
			}
		}
	}
	if until, ok := undoUntil(v.Decisions, a, at.undoTime); ok && now.Before(until) {
		v.UndoUntil = &until
	}
	return nil
}

// reviewPlace is where the rest of a review is found.
type reviewPlace struct {
	projectID, traceID, bodyHash string
	traceSealed                  bool
	policyVersion                int
	undoTime                     time.Duration
}

func (s *Store) readReviewRow(ctx context.Context, q querier, a Actor, reviewID string) (v Review, at reviewPlace, err error) {
	seal, traceSeal := sealedFor(a, "r.evaluation_id"), traceSealedFor(a, "r.trace_id")
	args := append(append([]any{}, seal.args...), traceSeal.args...)
	var row queueRow
	var lease sql.NullTime
	var policy string
	err = q.QueryRowContext(ctx, `
SELECT `+seal.value+`, `+queueColumns+`, `+traceSeal.value+`, p.id, p.name, t.id, t.revision, t.body_hash,
    t.content_hash, t.candidate_hash, t.reference_hash, e.prompt_version, r.policy_version, p.policy,
    COALESCE((SELECT j.ordinal FROM judges j WHERE j.project_id = r.project_id AND j.name = r.judge AND j.current), FALSE)
FROM reviews r
JOIN projects p ON p.id = r.project_id
JOIN evaluations e ON e.id = r.evaluation_id
JOIN traces t ON t.id = r.trace_id
LEFT JOIN users h ON h.id = r.holder_id
WHERE r.id = ?`, append(args, reviewID)...).Scan(append(row.fields(&lease),
		&at.traceSealed, &at.projectID, &v.Project, &at.traceID, &v.Revision, (*digest)(&at.bodyHash),
		(*digest)(&v.Hashes.Trace), (*digest)(&v.Hashes.Candidate), (*digest)(&v.Hashes.Reference), &v.PromptVersion,
		&at.policyVersion, &policy, &v.Ordinal)...)
	if err != nil {
		return Review{}, at, notFound(err, "review %q", reviewID)
	}
	of, err := readPolicy(v.Project, policy)
	if err != nil {
		return Review{}, at, err
	}
	at.undoTime = of.UndoTime()
	v.ReasonCodes = ReasonCodesFor(of, row.Domain, row.Judge)
	v.LeaseMinutes = of.LeaseMinutes
	v.Under = of.For(row.Judge, row.Domain, judge.Stakes(row.Stakes))
	row.settle(a, s.clock(), lease)
	v.QueueItem, v.JudgeName = row.QueueItem, row.Judge
	v.Mine = v.State == stateClaimed && v.HolderID == a.UserID && a.UserID != ""
	return v, at, nil
}

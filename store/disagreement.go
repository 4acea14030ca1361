package store

import (
	"context"
	"fmt"
	"regexp"

	"github.com/countersign/countersign/judge"
)

// disagreement looks for other models or versions of the same judge that gave
// the same trace another verdict. Then this evaluation waits for a person, and
// so does each other one that was accepted: those are returned. Recorded
// reports are left out: they are often there to be compared.
func (k *known) disagreement(s subject, f *finished) (reopened []*verdictOf) {
	e := &f.Evaluation
	if e.Engine == judge.EngineRecorded || e.Verdict == "" {
		return nil
	}
	for _, other := range k.verdicts[tracedJudge{s.traceID, s.judge}] {
		if other.id == s.evaluationID || other.Verdict == e.Verdict {
			continue
		}
		// Whatever it was drawn for: an evaluation like this is always reviewed.
		e.Status, f.Draw = judge.InReview, &judge.Draw{Stratum: judge.StratumFlagged, InclusionProbability: 1}
		e.Reasons = append(e.Reasons, differs(other.Evaluation))
		if other.Status == judge.Accepted {
			other.Status = judge.InReview
			reopened = append(reopened, other)
		}
	}
	return reopened
}

// with is the same trace and judge for another evaluation.
func (s subject) with(evaluationID string) subject {
	s.evaluationID = evaluationID
	return s
}

// differs is the reason of an evaluation whose verdict is another than this
// one's. It names no verdict: this one may still wait for the blind answer of
// whoever reads the reason.
func differs(from judge.Evaluation) judge.Reason {
	return judge.Reason{Code: judge.ReasonJudgeDisagreement,
		Detail: fmt.Sprintf("model %s with prompt version %.12s says otherwise", from.Model, from.PromptVersion)}
}

var namedVerdict = regexp.MustCompile(` says (pass|borderline|fail)$`)

// withoutVerdict is a reason as it may be read: those of disagreement that are
// older named the other verdict.
func withoutVerdict(r judge.Reason) judge.Reason {
	if r.Code == judge.ReasonJudgeDisagreement {
		r.Detail = namedVerdict.ReplaceAllString(r.Detail, " says otherwise")
	}
	return r
}

// reopenAccepted sends an accepted evaluation to a person for one more reason;
// its result is no longer final.
func (t *tx) reopenAccepted(ctx context.Context, s subject, r judge.Reason, draw judge.Draw) error {
	var position int
	if err := t.scan(ctx, `SELECT count(*) FROM evaluation_reasons WHERE evaluation_id = ?`, []any{s.evaluationID}, []any{&position}); err != nil {
		return err
	}
	if err := t.addReasons(ctx, s.evaluationID, position, []judge.Reason{r}); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `
UPDATE evaluations SET status = 'in_review', lead_reason = ?, reasons = reasons | ?, result_verdict = '', result_label = '', result_source = ''
WHERE id = ?`, r.Code, reasonMask([]judge.Reason{r}), s.evaluationID); err != nil {
		return err
	}
	t.recount(s.traceID)
	t.tally(s.projectID, tallyStatus, string(judge.Accepted), -1)
	t.tally(s.projectID, tallyStatus, string(judge.InReview), 1)
	return t.enqueue(ctx, s, r.Code, draw, true)
}

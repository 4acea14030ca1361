package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
)

// DecisionInput is what a person sends. Which fields count depends on the
// action: see Decide.
type DecisionInput struct {
	Action   string // confirm, override, cannot_judge, escalate; keep, adopt after a first answer
	Verdict  judge.Verdict
	Label    string
	Findings []judge.Finding // nil: the judge's for confirm and adopt, the first answer's for keep, none for override
	// Rulings on the item's parts; nil: the first answer's for keep, else none.
	Rulings []judge.Ruling
	// Changed is how many rulings differ from the judge's: with any, the judge's
	// answer is not confirmed or adopted, and an override is one although its
	// verdict is the judge's.
	Changed int
	// Compared is how many rulings were held against the judge's; 0: none, because
	// there are none or the judge's were sealed.
	Compared   int
	ReasonCode string // one of ReasonCodesFor
	Severity   string // of the judge's fault: critical, major, minor; empty: the reason code's
	Comment    string
	Confidence string // low, medium, high or empty
	// To is who an escalation goes to, a user's id or lead or admin; empty: leads
	// and admins.
	To string
	// Shown is what was on the screen; nil: the client does not say.
	Shown *Shown
}

// Decide settles an item, gives one of the opinions that it needs, or sends it to
// somebody else. Only its holder may; a claim that ran out counts as long as
// nobody took the item. It happens once: who comes late gets *DecidedError with
// the decision that counts, *HeldError or *ExpiredError. What was on the screen
// and is not what is stored any more is a *StaleError.
//
// An item that needs several opinions goes back to the queue, for other people,
// until there are as many. When all agree (the verdict, and the label where two
// give one) it is settled, else it goes to adjudication, by nobody who answered.
// Who cannot judge leaves it to the next one, until as many as the policy says
// could not.
//
// Where the verdict is visible: confirm; override (verdict or label, reason
// code and comment required unless the judge gave no verdict; one that changes
// nothing is kept as a confirm).
// On a blind item, after the first answer: keep (the own answer stands; where
// it differs from the judge's it is an override, with reason code and comment),
// adopt (the judge's answer) or override (an answer revised after the reveal; the
// first one is kept beside it). Either way: escalate, and before a first
// answer cannot_judge, both with a comment. A corrected
// decision may be confirm or override whatever was answered first.
func (s *Store) Decide(ctx context.Context, a Actor, reviewID string, in DecisionInput) (d Decision, err error) {
	defer wrap(&err, "decide review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "decision.made", "review:"+reviewID); err != nil {
		return Decision{}, err
	}
	if err := in.Check(); err != nil {
		return Decision{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.lockTraceOfReview(ctx, reviewID); err != nil {
			return err
		}
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.heldBy(ctx, t, a, t.now); err != nil {
			return err
		}
		if err := mayAnswer(ctx, t, a, r); err != nil {
			return err
		}
		facts, err := loadFacts(ctx, t, a, r)
		if err != nil {
			return err
		}
		out, err := facts.resolve(ctx, t, in)
		if err != nil {
			return err
		}
		d, err = t.storeDecision(ctx, a, facts, in, out)
		return err
	})
	return d, s.denyAdjudication(ctx, a, err, "decision.made", reviewID)
}

// Check refuses by field what no decision, and no first answer, may hold.
func (in DecisionInput) Check() error {
	if err := checkComment("comment", in.Comment, false); err != nil {
		return err
	}
	if in.Severity != "" && judge.SeverityRank(in.Severity) == 0 {
		return invalid("severity", "is %q: it is one of critical, major, minor", in.Severity)
	}
	if in.To != "" && in.Action != Escalate {
		return invalid("to", "is for an escalation, and the action is %s", in.Action)
	}
	if err := checkRulings(in.Rulings); err != nil {
		return err
	}
	switch in.Confidence {
	case "", "low", "medium", "high":
	default:
		return invalid("confidence", "is %q: it is one of low, medium, high", in.Confidence)
	}
	if err := checkFindings(in.Findings); err != nil {
		return err
	}
	if len(in.Findings) > MaxFindings {
		return invalid("findings", "are %d: at most %d can be kept", len(in.Findings), MaxFindings)
	}
	return nil
}

// facts are what a decision is measured against.
type facts struct {
	review        reviewState
	judged        Answer // the judge's; without a verdict when it failed
	promptVersion string
	cluster       string
	first         *Answer   // the actor's answer before the reveal
	seen          bool      // the actor had the verdict shown before answering
	corrects      *Decision // the decision that a new one supersedes
	current       Shown     // what is on the screen of who looks now
	qualification string    // the actor's
}

// sealed says that the judge's verdict is kept from the actor.
func (f facts) sealed() bool { return f.first == nil && f.review.blind && !f.seen }

// visible says that the actor knew the verdict before their first answer.
func (f facts) visible() bool { return f.first == nil && (!f.review.blind || f.seen) }

func loadFacts(ctx context.Context, q querier, a Actor, r reviewState) (f facts, err error) {
	f.review = r
	err = q.QueryRowContext(ctx, `
SELECT e.verdict, e.label, e.prompt_version, t.cluster, EXISTS (`+exposure+`)
FROM evaluations e JOIN traces t ON t.id = e.trace_id WHERE e.id = ?`, r.evaluationID, a.UserID, r.evaluationID).Scan(
		&f.judged.Verdict, &f.judged.Label, &f.promptVersion, &f.cluster, &f.seen)
	if err != nil {
		return f, fmt.Errorf("read evaluation %s: %w", r.evaluationID, err)
	}
	said, err := detailOne(ctx, q, r.evaluationID)
	if err != nil {
		return f, err
	}
	f.judged.Findings = list(said.Findings)
	if f.first, err = firstAnswer(ctx, q, r.id, a.UserID); err != nil {
		return f, err
	}
	profile, err := profileOf(ctx, q, a.UserID)
	if err != nil {
		return f, err
	}
	f.qualification = profile.standing()
	if err := f.readCurrent(ctx, q, said.Report); err != nil || !r.reopened {
		return f, err
	}
	last, ok, err := lastSettling(ctx, q, r.id)
	if ok {
		f.corrects = &last
	}
	return f, err
}

// outcome is what an input comes to.
type outcome struct {
	action, choice string
	answer         Answer // empty for cannot_judge and escalate
	abstain        bool
	severity       string
}

// resolve applies the rules of Decide, and those of reason codes.
func (f facts) resolve(ctx context.Context, q querier, in DecisionInput) (out outcome, err error) {
	severity := in.Severity
	if in.ReasonCode != "" {
		o, err := f.review.overrideReason(in.ReasonCode)
		if err != nil {
			return outcome{}, err
		}
		severity = cmp.Or(severity, o.Severity)
	}
	if out, err = f.choose(ctx, q, in); err != nil {
		return outcome{}, err
	}
	if out.action == Override || in.ReasonCode != "" {
		out.severity = severity
	}
	return out, nil
}

// choose tells what an action comes to.
func (f facts) choose(ctx context.Context, q querier, in DecisionInput) (outcome, error) {
	blindFirst := f.first != nil && f.corrects == nil
	if f.review.adjudicating && (in.Action == Escalate || in.Action == CannotJudge) {
		return outcome{}, invalid("action", "is %s, but this item waits for a lead to settle it: decide it, or release it to another lead", in.Action)
	}
	switch in.Action {
	case Escalate:
		if err := checkComment("comment", in.Comment, true); err != nil {
			return outcome{}, err
		}
		return outcome{action: Escalate}, f.review.checkAddressee(ctx, q, in.To)
	case CannotJudge:
		if f.first != nil {
			return outcome{}, invalid("action", "is cannot_judge, but you have answered: keep, adopt or escalate")
		}
		return outcome{action: CannotJudge, abstain: true}, checkComment("comment", in.Comment, true)
	case Keep, Adopt:
		if f.first == nil {
			return outcome{}, invalid("action", "is %s, which needs a first answer: give your own verdict first", in.Action)
		}
	case Confirm, Override:
		if blindFirst && in.Action == Confirm {
			return outcome{}, invalid("action", "is %s, but this item was answered blind: keep, adopt, override to revise your answer, or escalate", in.Action)
		}
		if f.first == nil && !f.visible() {
			return outcome{}, invalid("action", "is %s, but the verdict is sealed: give your own verdict first", in.Action)
		}
	case "":
		return outcome{}, invalid("action", "is missing")
	default:
		return outcome{}, invalid("action", "is %q: it is one of confirm, override, cannot_judge, escalate, keep, adopt", in.Action)
	}
	if in.Action == Confirm || in.Action == Adopt {
		return f.takeJudged(ctx, q, in)
	}
	own := Answer{Verdict: in.Verdict, Label: in.Label, Findings: in.Findings, Rulings: in.Rulings}
	choice := ""
	if in.Action == Keep {
		if in.Verdict != "" && in.Verdict != f.first.Verdict || in.Label != "" && in.Label != f.first.Label {
			return outcome{}, invalid("verdict", "is another than your first answer %s, which keep lets stand", f.first.Verdict)
		}
		own.Verdict, own.Label, choice = f.first.Verdict, f.first.Label, Keep
		if own.Findings == nil {
			own.Findings = f.first.Findings
		}
		if own.Rulings == nil {
			own.Rulings = f.first.Rulings
		}
	}
	return f.takeOwn(ctx, q, in, own, choice)
}

// takeJudged is the judge's answer as the person's own.
func (f facts) takeJudged(ctx context.Context, q querier, in DecisionInput) (outcome, error) {
	if f.judged.Verdict == "" {
		return outcome{}, invalid("action", "is %s, but the judge gave no verdict: give your own", in.Action)
	}
	if in.Changed > 0 {
		n, it := "a ruling", "it"
		if in.Changed > 1 {
			n, it = fmt.Sprintf("%d rulings", in.Changed), "them"
		}
		if in.Action == Adopt {
			return outcome{}, invalid("action", "is adopt, but you changed %s, so the judge's answer is not adopted as it is: keep your own, or change %s back", n, it)
		}
		return outcome{}, invalid("action", "is confirm, but you changed %s, so this cannot be confirmed: override, or change %s back", n, it)
	}
	if in.Verdict != "" && in.Verdict != f.judged.Verdict {
		return outcome{}, invalid("verdict", "is %s, but the judge said %s: override to change it", in.Verdict, f.judged.Verdict)
	}
	if in.Label != "" && in.Label != f.judged.Label {
		return outcome{}, invalid("label", "is %q, but the judge said %q: override to change it", in.Label, f.judged.Label)
	}
	out := outcome{action: Confirm, answer: f.judged}
	if in.Action == Adopt {
		out.choice = Adopt
	}
	if in.Findings != nil {
		out.answer.Findings = in.Findings
	}
	out.answer.Rulings = in.Rulings
	var err error
	out.abstain, err = abstains(ctx, q, f.review, f.judged.Label)
	return out, err
}

// takeOwn is the person's answer; it overrides unless it changes nothing.
func (f facts) takeOwn(ctx context.Context, q querier, in DecisionInput, own Answer, choice string) (outcome, error) {
	keepFindings := own.Findings == nil
	own, abstain, err := checkAnswer(ctx, q, f.review, own)
	if err != nil {
		return outcome{}, err
	}
	out := outcome{action: Override, choice: choice, answer: own, abstain: abstain}
	if out.answer.Label == "" && own.Verdict == f.judged.Verdict {
		out.answer.Label = f.judged.Label // the verdict stands, and the class with it
	}
	if f.judged.Verdict != "" && own.agrees(f.judged) && (choice == Keep || in.Changed == 0) &&
		(choice == Keep || keepFindings || len(own.Findings) == 0 || slices.Equal(own.Findings, f.judged.Findings)) {
		out.action = Confirm
		if keepFindings {
			out.answer.Findings = f.judged.Findings
		}
		return out, nil
	}
	if f.judged.Verdict == "" {
		return out, nil // the judge failed: there is nothing to say no to
	}
	if in.ReasonCode == "" {
		return outcome{}, invalid("reason_code", "is missing: an override says why")
	}
	return out, checkComment("comment", in.Comment, true)
}

func abstains(ctx context.Context, q querier, r reviewState, label string) (abstain bool, err error) {
	err = q.QueryRowContext(ctx, `
SELECT l.abstain FROM judge_labels l WHERE l.project_id = ? AND l.judge = ? AND l.label = ? AND `+scaleOf, r.projectID, r.judge, label,
		r.evaluationID, r.evaluationID).Scan(&abstain)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return abstain, err
}

package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// MaxFindings is how many findings one answer may carry.
const MaxFindings = 500

// Answer is what a person says about a blind item before the reveal.
type Answer struct {
	// Verdict or Label is required. A label gives the verdict; when both are
	// there they have to agree.
	Verdict  judge.Verdict   `json:"verdict"`
	Label    string          `json:"label,omitempty"`
	Findings []judge.Finding `json:"findings"`
	Rulings  []judge.Ruling  `json:"rulings,omitempty"` // on the item's parts
	At       time.Time       `json:"at"`                // set by the store
}

// same says whether two answers say the same, whenever they were given.
func (x Answer) same(y Answer) bool {
	return x.Verdict == y.Verdict && x.Label == y.Label && slices.Equal(x.Findings, y.Findings) && sameRulings(x.Rulings, y.Rulings)
}

// agrees says whether an answer equals the judge's: the verdict, and the label
// where both have one. The label alone is not enough: a critical error fails a
// report whatever class its score is in.
func (x Answer) agrees(y Answer) bool {
	return x.Verdict == y.Verdict && (x.Label == "" || y.Label == "" || x.Label == y.Label)
}

// checkFindings bounds what a person's findings may hold.
func checkFindings(findings []judge.Finding) error {
	for i, f := range findings {
		switch {
		case f.Step < 0 || f.Citation < 0:
			return invalid("findings", "number %d points at step %d, citation %d: both count from 1", i+1, f.Step, f.Citation)
		case strings.TrimSpace(f.Class) == "":
			return invalid("findings", "number %d has no class", i+1)
		case len(f.Class)+len(f.CitationID)+len(f.Dimension)+len(f.Severity) > 500:
			return invalid("findings", "number %d has names of more than 500 characters", i+1)
		case len(f.Quote)+len(f.Explanation) > 2*MaxComment:
			return invalid("findings", "number %d is longer than %d characters", i+1, 2*MaxComment)
		}
	}
	return nil
}

// checkAnswer completes an answer by the judge's scale, or says what is wrong
// with it. abstain says that its label is an abstention.
func checkAnswer(ctx context.Context, q querier, r reviewState, x Answer) (_ Answer, abstain bool, err error) {
	if len(x.Findings) > MaxFindings {
		return x, false, invalid("findings", "are %d: at most %d can be kept", len(x.Findings), MaxFindings)
	}
	if err := checkFindings(x.Findings); err != nil {
		return x, false, err
	}
	if err := checkRulings(x.Rulings); err != nil {
		return x, false, err
	}
	if x.Findings == nil {
		x.Findings = []judge.Finding{}
	}
	if x.Verdict != "" {
		if _, err := judge.ParseVerdict(string(x.Verdict)); err != nil {
			return x, false, invalid("verdict", "is %q: it is one of pass, borderline, fail", x.Verdict)
		}
	}
	if x.Label == "" {
		if x.Verdict == "" {
			return x, false, invalid("verdict", "is missing: give a verdict or a label")
		}
		return x, false, nil
	}
	scale, err := judgeLabels(ctx, q, r.projectID, r.judge, r.evaluationID)
	if err != nil {
		return x, false, err
	}
	i := slices.IndexFunc(scale, func(l judge.Label) bool { return l.Name == x.Label })
	if i < 0 {
		return x, false, invalid("label", "is %q: judge %s has %s", x.Label, r.judge, labelNames(scale))
	}
	if x.Verdict != "" && x.Verdict != scale[i].Verdict {
		return x, false, invalid("verdict", "is %s, but the label %s means %s: give one of them, or let them agree", x.Verdict, x.Label, scale[i].Verdict)
	}
	x.Verdict = scale[i].Verdict
	return x, scale[i].Abstain, nil
}

func labelNames(scale []judge.Label) string {
	if len(scale) == 0 {
		return "no labels of its own: give a verdict"
	}
	var names []string
	for _, l := range scale {
		names = append(names, l.Name)
	}
	return strings.Join(names, ", ")
}

// judgeLabels is the scale of a judge in its order, best first: that of the
// version that made an evaluation, or without one of the current version.
func judgeLabels(ctx context.Context, q querier, projectID, judgeName, evaluationID string) ([]judge.Label, error) {
	return collect(ctx, q, func(r *sql.Rows, l *judge.Label) error { return r.Scan(&l.Name, &l.Verdict, &l.Abstain) }, `
SELECT l.label, l.verdict, l.abstain FROM judge_labels l
WHERE l.project_id = ? AND l.judge = ? AND `+scaleOf+` ORDER BY l.position`, projectID, judgeName, evaluationID, evaluationID)
}

func checkComment(field, comment string, required bool) error {
	if required && saysNothing(comment) {
		return invalid(field, "is missing: say why in a sentence")
	}
	if n := utf8.RuneCountInString(comment); n > MaxComment {
		return invalid(field, "has %d characters: at most 4,000 can be kept", n)
	}
	return nil
}

// saysNothing of a text in which nothing can be seen: blanks and control characters.
func saysNothing(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
	})
}

// firstAnswer reads what the actor said before the reveal; nil: nothing yet.
func firstAnswer(ctx context.Context, q querier, reviewID, userID string) (*Answer, error) {
	var x Answer
	err := scanAnswer(q.QueryRowContext(ctx, `
SELECT `+answerColumns+` FROM first_answers f WHERE f.review_id = ? AND f.user_id = ?`, reviewID, userID).Scan, &x)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return &x, err
}

const answerColumns = `f.verdict, f.label, f.findings, f.rulings, f.answered_at`

// scanAnswer scans an answer behind the columns that stand before it.
func scanAnswer(scan func(...any) error, x *Answer, before ...any) error {
	var findings, rulings string
	if err := scan(append(before, &x.Verdict, &x.Label, &findings, &rulings, &x.At)...); err != nil {
		return err
	}
	x.At = x.At.UTC()
	if err := json.Unmarshal([]byte(findings), &x.Findings); err != nil {
		return err
	}
	var err error
	x.Rulings, err = readRulings(rulings)
	return err
}

// exposed says whether the actor asked on the record to see the verdict of an
// evaluation before answering.
func exposed(ctx context.Context, q querier, evaluationID, userID string) (seen bool, err error) {
	err = q.QueryRowContext(ctx, `SELECT EXISTS (`+exposure+`)`, evaluationID, userID).Scan(&seen)
	return seen, err
}

const exposure = `SELECT 1 FROM exposures WHERE evaluation_id = ? AND user_id = ?`

// CommitFirstAnswer keeps what the holder of a blind item says before the
// reveal, for ever, and gives the review with the judge's verdict. The same
// answer again gives the same; another one is an ErrConflict, as is an answer
// by somebody who had the verdict shown.
func (s *Store) CommitFirstAnswer(ctx context.Context, a Actor, reviewID string, answer Answer) (_ Review, err error) {
	defer wrap(&err, "keep the first answer on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "review.first_answer", "review:"+reviewID); err != nil {
		return Review{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.heldBy(ctx, t, a, t.now); err != nil {
			return err
		}
		return t.commitFirstAnswer(ctx, a, r, answer)
	})
	if err != nil {
		return Review{}, err
	}
	return s.GetReview(ctx, a, reviewID)
}

func (t *tx) commitFirstAnswer(ctx context.Context, a Actor, r reviewState, answer Answer) error {
	if !r.blind {
		return invalid("action", "is missing: this item is not blind, so confirm or override at once")
	}
	answer, _, err := checkAnswer(ctx, t, r, answer)
	if err != nil {
		return err
	}
	before, err := firstAnswer(ctx, t, r.id, a.UserID)
	if err != nil {
		return err
	}
	if before != nil {
		if before.same(answer) {
			return nil
		}
		return refuse("you already answered %s: a first answer is never changed; keep it, adopt the judge's, or escalate", before.Verdict)
	}
	seen, err := exposed(ctx, t, r.evaluationID, a.UserID)
	if err != nil {
		return err
	}
	if seen {
		return refuse("you have had the judge's verdict shown, so a first answer would not be blind: confirm or override")
	}
	answer.At = t.now
	nonce := rand.Text()
	if err := insertFirstAnswer(ctx, t, r.id, a.UserID, nonce, answer); err != nil {
		return err
	}
	// The answer itself is not in the event: the audit log is open to leads,
	// who may have to answer the same item blind. Few answers are possible, so
	// a digest without the nonce could be tried out.
	digest, err := digestOf([]any{nonce, answer})
	if err != nil {
		return err
	}
	t.audit(event{project: r.project, actor: a, action: "review.first_answer", subject: r.subject(),
		data: map[string]any{"evaluation_id": r.evaluationID, "answer_sha256": digest}})
	return nil
}

func insertFirstAnswer(ctx context.Context, t *tx, reviewID, userID, nonce string, x Answer) error {
	findings, err := json.Marshal(x.Findings)
	if err != nil {
		return err
	}
	rulings, err := writeRulings(x.Rulings)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `
INSERT INTO first_answers (review_id, user_id, verdict, label, findings, rulings, nonce, answered_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		reviewID, userID, string(x.Verdict), x.Label, string(findings), rulings, nonce, x.At)
	return err
}

// digestOf ties an audit event to a row without repeating it: the hex SHA-256
// of the row's JSON form.
func digestOf(v any) (string, error) {
	body, err := json.Marshal(v)
	return judge.HashText(string(body)), err
}

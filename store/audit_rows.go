package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// sayings are the digests that the chain holds of what people said.
type sayings struct {
	decisions  map[string]string // by the decision's id
	signatures map[string]string // by the decision's id
	undone     map[string]bool   // decisions that were taken back
	answers    map[string]string // by review subject and user
	comments   map[string]string // by the comment's id
	withdrawn  map[string]bool   // comments that were taken back
	releases   map[string]string // by the release's id
	unreleased map[string]bool   // releases that were withdrawn
	trust      map[trustKey]trustSaid
	rows       map[chainedKey]string // digests of other records
	of         querier               // the moment at which the chain was read
	draws      map[string]string     // digest by the ids of a draw's parts, with blanks between
}

// drawSaid is what the digest of a draw holds of a part, as far as weights follow from it.
type drawSaid struct {
	Frame   int     `json:"frame"`
	N       int     `json:"n"`
	Number  int     `json:"number"`
	Earlier float64 `json:"earlier"`
	Digest  string  `json:"ids_sha256"`
	Model   string  `json:"model"`
	Version string  `json:"prompt_version"`
	Verdict string  `json:"verdict"`
}

func newSayings() sayings {
	return sayings{decisions: map[string]string{}, signatures: map[string]string{}, undone: map[string]bool{}, answers: map[string]string{},
		comments: map[string]string{}, withdrawn: map[string]bool{}, releases: map[string]string{}, unreleased: map[string]bool{},
		trust: map[trustKey]trustSaid{}, rows: map[chainedKey]string{}, draws: map[string]string{}}
}

// note takes an event's digest. Data that are none are the chain's business.
func (s sayings) note(e AuditEvent) {
	var d struct {
		DecisionID string `json:"decision_id"`
		Decision   string `json:"decision_sha256"`
		Signature  string `json:"signature_sha256"`
		Answer     string `json:"answer_sha256"`
		CommentID  string `json:"comment_id"`
		Comment    string `json:"comment_sha256"`
		ReleaseID  string `json:"release_id"`
		Release    string `json:"release_sha256"`
		Withdrawn  string `json:"withdrawn_release"`
	}
	s.noteRow(e)
	if e.Allowed && slices.Contains(trustActions, e.Action) {
		s.noteTrust(e)
	}
	if json.Unmarshal(e.Data, &d) != nil {
		return
	}
	if d.DecisionID != "" && d.Decision != "" {
		s.decisions[d.DecisionID] = d.Decision
	}
	if d.DecisionID != "" && d.Signature != "" {
		s.signatures[d.DecisionID] = d.Signature
	}
	if e.Action == decisionUndone && d.DecisionID != "" {
		s.undone[d.DecisionID] = true
	}
	switch {
	case d.CommentID != "" && d.Comment != "":
		s.comments[d.CommentID] = d.Comment
	case e.Action == commentWithdrawn:
		s.withdrawn[d.CommentID] = true
	}
	if d.ReleaseID != "" && d.Release != "" {
		s.releases[d.ReleaseID] = d.Release
	}
	if e.Action == runReleaseWithdrawn {
		s.unreleased[d.Withdrawn] = true
	}
	if e.Action == labelsDrawn && e.Allowed {
		s.noteDraw(e)
	}
	if d.Answer != "" {
		s.answers[e.Subject+" "+e.ActorID] = d.Answer
	}
}

// checkRows holds the tables to the chain: what people said is not in it whole,
// but by a digest, and labels and results follow from it. A row that was
// changed, removed or slipped in is found. problem is empty when all holds.
func (s *Store) checkRows(ctx context.Context, said sayings, events int64) (problem string, err error) {
	if events == 0 {
		var projects int
		if err := s.reader.QueryRowContext(ctx, `SELECT count(*) FROM projects`).Scan(&projects); err != nil || projects == 0 {
			return "", err
		}
		return "the chain is empty, but the database has a project: all events were removed", nil
	}
	for _, check := range []func(context.Context, sayings) (string, error){s.checkDecisions, s.checkAnswers, s.checkComments, s.checkReleases, s.checkTrust, s.checkKept, s.checkDraws, s.checkDerived} {
		if problem, err := check(ctx, said); problem != "" || err != nil {
			return problem, err
		}
	}
	return "", nil
}

func (s *Store) checkDecisions(ctx context.Context, said sayings) (string, error) {
	type row struct {
		Decision
		nonce string
	}
	decisions, err := collect(ctx, s.reader, func(rows *sql.Rows, r *row) error { return scanDecisionAnd(rows, &r.Decision, &r.nonce) }, `
SELECT `+decisionColumns+`, d.nonce FROM `+decisionTables+` ORDER BY d.decided_at, d.id`)
	if err != nil {
		return "", err
	}
	for _, d := range decisions {
		want, ok := said.decisions[d.ID]
		if !ok {
			return fmt.Sprintf("decision %s is in no event of the chain: it was slipped in", d.ID), nil
		}
		delete(said.decisions, d.ID)
		got, err := d.digest(d.nonce)
		if err != nil {
			return "", err
		}
		if got != want {
			return fmt.Sprintf("decision %s of evaluation %s was changed: its event says otherwise", d.ID, d.EvaluationID), nil
		}
		if problem, err := said.checkSigned(d.Decision); problem != "" || err != nil {
			return problem, err
		}
	}
	for id := range said.decisions {
		return fmt.Sprintf("decision %s is in the chain and not in the database: it was removed", id), nil
	}
	return "", nil
}

// checkSigned holds a decision's signature, and whether it stands, to the chain.
func (said sayings) checkSigned(d Decision) (string, error) {
	want, signed := said.signatures[d.ID]
	switch {
	case signed && d.Signature == nil:
		return fmt.Sprintf("the signature of decision %s is in the chain and not in the database: it was removed", d.ID), nil
	case !signed && d.Signature != nil:
		return fmt.Sprintf("the signature of decision %s is in no event of the chain: it was slipped in", d.ID), nil
	case signed:
		got, err := d.Signature.digest(d.ID)
		if err != nil {
			return "", err
		}
		if got != want {
			return fmt.Sprintf("the signature of decision %s was changed: its event says otherwise", d.ID), nil
		}
	}
	switch undone := said.undone[d.ID]; {
	case undone && d.UndoneAt == nil:
		return fmt.Sprintf("decision %s was taken back by an event of the chain, and the database lets it stand: that was removed", d.ID), nil
	case !undone && d.UndoneAt != nil:
		return fmt.Sprintf("decision %s is taken back in the database and by no event of the chain: that was slipped in", d.ID), nil
	}
	return "", nil
}

func (s *Store) checkAnswers(ctx context.Context, said sayings) (string, error) {
	type row struct {
		review, user, nonce string
		answer              Answer
	}
	answers, err := collect(ctx, s.reader, func(rows *sql.Rows, r *row) error {
		return scanAnswer(rows.Scan, &r.answer, &r.review, &r.user, &r.nonce)
	}, `SELECT f.review_id, f.user_id, f.nonce, `+answerColumns+` FROM first_answers f ORDER BY f.answered_at, f.review_id, f.user_id`)
	if err != nil {
		return "", err
	}
	for _, r := range answers {
		key := "review:" + r.review + " " + r.user
		want, ok := said.answers[key]
		if !ok {
			return fmt.Sprintf("a first answer on review %s is in no event of the chain: it was slipped in", r.review), nil
		}
		delete(said.answers, key)
		got, err := digestOf([]any{r.nonce, r.answer})
		if err != nil {
			return "", err
		}
		if got != want {
			return fmt.Sprintf("the first answer on review %s was changed: its event says otherwise", r.review), nil
		}
	}
	for key := range said.answers {
		return fmt.Sprintf("the first answer of %s is in the chain and not in the database: it was removed", key), nil
	}
	return "", nil
}

// derived are rows that follow from others; each question finds the first that
// does not.
var derived = []struct{ query, problem string }{
	{`SELECT l.id FROM labels l JOIN decisions d ON d.id = l.decision_id
WHERE l.verdict <> d.verdict OR l.label <> d.label OR l.first_verdict <> d.first_verdict OR l.first_label <> d.first_label
    OR l.verdict_visible <> d.verdict_visible OR l.adjudicated <> d.adjudication LIMIT 1`,
		"label %s says something else than its decision: it was changed"},
	{`SELECT e.id FROM evaluations e WHERE e.result_source = 'judge' AND (e.result_verdict <> e.verdict OR e.result_label <> e.label) LIMIT 1`,
		"the result of evaluation %s is the judge's and not what the judge said: it was changed"},
	{`SELECT e.id FROM evaluations e JOIN reviews r ON r.evaluation_id = e.id AND r.state = 'decided'
JOIN decisions s ON s.id = (SELECT d.id FROM decisions d WHERE d.review_id = r.id AND d.action IN ('confirm', 'override') AND ` + standing + `
    ORDER BY d.decided_at DESC, d.id DESC LIMIT 1)
WHERE e.result_verdict <> s.verdict OR e.result_label <> s.label AND (s.label <> '' OR NOT EXISTS (SELECT 1 FROM decisions d
    WHERE d.review_id = r.id AND d.action IN ('confirm', 'override') AND d.verdict = s.verdict AND d.label = e.result_label AND ` + standing + `)) LIMIT 1`,
		"the result of evaluation %s is not what was decided: it was changed"},
	{`SELECT l.id FROM labels l JOIN decisions x ON x.id = l.decision_id
WHERE (x.over_quota OR EXISTS (SELECT 1 FROM undone_decisions z WHERE z.decision_id = x.id)) AND ` + counted + ` LIMIT 1`,
		"label %s is counted, though its decision was taken back or came when the item was settled: it was changed"},
	{`SELECT w.label_id FROM withheld_labels w JOIN decisions x ON x.id = w.decision_id JOIN reviews r ON r.id = x.review_id
WHERE w.why = 'waits' AND r.state = 'decided' OR w.why = 'over_quota' AND NOT x.over_quota
    OR w.why = 'undone' AND NOT EXISTS (SELECT 1 FROM undone_decisions z WHERE z.decision_id = x.id) LIMIT 1`,
		"label %s is left out of the figures, though its decision stands and its item is settled: it was changed"},
	{`SELECT l.id FROM labels l JOIN decisions x ON x.id = l.decision_id JOIN reviews r ON r.id = x.review_id
WHERE r.state IN ('open', 'claimed', 'adjudication') AND NOT r.reopened AND x.action IN ('confirm', 'override') AND x.round = r.round
    AND ` + counted + ` LIMIT 1`,
		"label %s is counted, though its item is not settled: it was changed"},
}

func (s *Store) checkDerived(ctx context.Context, _ sayings) (string, error) {
	for _, d := range derived {
		var id string
		err := s.reader.QueryRowContext(ctx, d.query).Scan(&id)
		switch {
		case err == nil:
			return fmt.Sprintf(d.problem, id), nil
		case !errors.Is(err, sql.ErrNoRows):
			return "", fmt.Errorf("%s: %w", firstLine(d.query), err)
		}
	}
	return "", nil
}

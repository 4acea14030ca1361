package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/countersign/countersign/judge/release"
)

// Actions of a release.
const (
	runReleased         = "run.released"
	runReleaseWithdrawn = "run.release_withdrawn"
)

// RunRelease is a sign-off of a run. It is never edited; a withdrawal stands beside it.
type RunRelease struct {
	ID             string          `json:"id"`
	UserID         string          `json:"user_id"`
	Name           string          `json:"name"` // as it was then
	Role           Role            `json:"role"`
	Qualification  string          `json:"qualification,omitempty"`
	Affirmation    string          `json:"affirmation"`
	Wording        int             `json:"wording"` // the version of the affirmation
	Comment        string          `json:"comment,omitempty"`
	Although       string          `json:"although,omitempty"` // why, although something spoke against it
	Evidence       json.RawMessage `json:"-"`                  // a ReleaseEvidence as it was
	EvidenceSHA256 string          `json:"evidence_sha256"`
	At             time.Time       `json:"at"`
	Withdrawn      *Withdrawal     `json:"withdrawn"` // nil: it stands
}

// Withdrawal ends a release.
type Withdrawal struct {
	UserID string    `json:"user_id"`
	Name   string    `json:"name"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

// ReleaseWording is the version of the text of ReleaseAffirmation. It is raised whenever
// that changes.
const ReleaseWording = 1

// ReleaseAffirmation is what somebody affirms who releases a run.
const ReleaseAffirmation = "I have looked at this run’s gate, at what still waits for people, at what people overrode and at how far its judges are trusted, as they are shown here. I release this run, and I sign for it."

// ReleaseInput is what somebody signs with.
type ReleaseInput struct {
	// EvidenceSHA256 of the evidence that was on the screen.
	EvidenceSHA256 string
	// Comment may be empty. Although says why the run is released though its gate did not
	// pass; it is needed exactly then.
	Comment, Although string
}

// ReleaseRun signs a run off. The evidence is worked out anew, and has to be what was
// shown (a *StaleError else). The same person signing the same evidence again gets the
// release that stands. Roles: lead, admin, and a person with a name.
func (s *Store) ReleaseRun(ctx context.Context, a Actor, project, run string, in ReleaseInput) (r RunRelease, err error) {
	defer wrap(&err, "release run %q", run)
	if err := s.authorise(ctx, a, leads, runReleased, "project:"+project); err != nil {
		return r, err
	}
	if a.UserID == "" {
		return r, invalid("user", "is missing: a person signs a release, not a command")
	}
	e, err := s.ReleaseEvidence(ctx, a, project, run)
	if err != nil {
		return r, err
	}
	if err := in.check(e); err != nil {
		return r, err
	}
	body, err := json.Marshal(e)
	if err != nil {
		return r, err
	}
	err = s.write(ctx, func(t *tx) error {
		p, runID, all, err := t.lockReleases(ctx, project, run)
		if err != nil {
			return err
		}
		for _, x := range all {
			if x.UserID == a.UserID && x.EvidenceSHA256 == in.EvidenceSHA256 && x.Withdrawn == nil {
				r = x // pressed twice
				return nil
			}
		}
		profile, err := profileOf(ctx, t, a.UserID)
		if err != nil {
			return err
		}
		r = RunRelease{ID: t.newID(), UserID: a.UserID, Name: a.Name, Role: a.Role, Qualification: profile.standing(),
			Affirmation: ReleaseAffirmation, Wording: ReleaseWording, Comment: strings.TrimSpace(in.Comment), Although: strings.TrimSpace(in.Although),
			Evidence: body, EvidenceSHA256: in.EvidenceSHA256, At: t.now}
		return t.insertRelease(ctx, a, p, runID, r)
	})
	return r, err
}

func (in ReleaseInput) check(e ReleaseEvidence) error {
	if err := checkComment("comment", in.Comment, false); err != nil {
		return err
	}
	if err := checkComment("although", in.Although, false); err != nil {
		return err
	}
	switch against, blank := e.Gate.Outcome != release.Passed, saysNothing(in.Although); {
	case e.SHA256 != in.EvidenceSHA256:
		return &StaleError{What: "the run"}
	case against && blank:
		return invalid("although", "is missing: say why the run is released although its gate did not pass")
	case !against && !blank:
		return invalid("although", "is given, and nothing speaks against this release: write it as the comment")
	}
	return nil
}

func (t *tx) insertRelease(ctx context.Context, a Actor, p Project, runID string, r RunRelease) error {
	sum, err := r.digest()
	if err != nil {
		return err
	}
	t.audit(event{project: p.Name, actor: a, action: runReleased, subject: "run:" + runID, data: map[string]any{
		"release_id": r.ID, "release_sha256": sum, "affirmation": r.Affirmation, "wording": r.Wording, "comment": r.Comment, "although": r.Although,
		"evidence_sha256": r.EvidenceSHA256, "evidence": r.Evidence}})
	_, err = t.exec(ctx, `
INSERT INTO run_releases (id, run_id, user_id, name, role, qualification, affirmation, wording, comment, although, evidence, evidence_sha256, released_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, r.ID, runID, r.UserID, r.Name, string(r.Role), r.Qualification, r.Affirmation, r.Wording,
		r.Comment, r.Although, string(r.Evidence), r.EvidenceSHA256, r.At)
	return err
}

// WithdrawRelease ends a release that stands, for a reason. ErrNotFound: there is none
// of this id; ErrConflict: somebody withdrew it before. Roles: lead, admin, and a person
// with a name.
func (s *Store) WithdrawRelease(ctx context.Context, a Actor, project, run, id, reason string) (r RunRelease, err error) {
	defer wrap(&err, "withdraw the release of run %q", run)
	if err := s.authorise(ctx, a, leads, runReleaseWithdrawn, "project:"+project); err != nil {
		return r, err
	}
	if a.UserID == "" {
		return r, invalid("user", "is missing: a person withdraws a release, not a command")
	}
	if err := checkComment("reason", reason, true); err != nil {
		return r, err
	}
	err = s.write(ctx, func(t *tx) error {
		p, runID, all, err := t.lockReleases(ctx, project, run)
		if err != nil {
			return err
		}
		found := false
		for _, x := range all {
			if x.ID == id {
				r, found = x, true
			}
		}
		switch w := r.Withdrawn; {
		case !found:
			return fmt.Errorf("run %s has no release %q: %w", run, id, ErrNotFound)
		case w != nil:
			return refuse("%s withdrew this release at %s already: %s", w.Name, w.At.Format("15:04 on 2 January"), w.Reason)
		}
		r.Withdrawn = &Withdrawal{UserID: a.UserID, Name: a.Name, Reason: strings.TrimSpace(reason), At: t.now}
		t.audit(event{project: p.Name, actor: a, action: runReleaseWithdrawn, subject: "run:" + runID,
			data: map[string]any{"withdrawn_release": r.ID, "released_by": r.Name, "reason": r.Withdrawn.Reason}})
		_, err = t.exec(ctx, `INSERT INTO run_release_withdrawals (release_id, user_id, name, reason, withdrawn_at) VALUES (?, ?, ?, ?, ?)`,
			r.ID, a.UserID, a.Name, r.Withdrawn.Reason, t.now)
		return err
	})
	return r, err
}

// lockReleases finds a run and its releases, the newest first, and holds the run's row,
// so that they come one after another.
func (t *tx) lockReleases(ctx context.Context, project, run string) (p Project, runID string, all []RunRelease, err error) {
	if p, err = projectNamed(ctx, t, orDefaultProject(project)); err != nil {
		return p, "", nil, err
	}
	if err := t.lockRow(ctx, "r", `SELECT r.id FROM runs r WHERE r.project_id = ? AND r.name = ?`, p.ID, run); err != nil {
		return p, "", nil, err
	}
	if runID, err = runNamed(ctx, t, p, run); err != nil {
		return p, "", nil, err
	}
	all, err = releasesOf(ctx, t, runID)
	return p, runID, all, err
}

func runNamed(ctx context.Context, q querier, p Project, run string) (id string, err error) {
	err = q.QueryRowContext(ctx, `SELECT id FROM runs WHERE project_id = ? AND name = ?`, p.ID, run).Scan(&id)
	return id, notFound(err, "run %q", run)
}

// digest ties a release to its audit event.
func (r RunRelease) digest() (string, error) {
	return digestOf([]any{r.ID, r.UserID, r.Name, r.Role, r.Qualification, r.Affirmation, r.Wording, r.Comment, r.Although, string(r.Evidence), r.EvidenceSHA256, r.At.UTC()})
}

const releaseColumns = `x.id, x.user_id, x.name, x.role, x.qualification, x.affirmation, x.wording, x.comment, x.although, x.evidence, x.evidence_sha256, x.released_at,
    w.user_id, w.name, w.reason, w.withdrawn_at`

const releaseTables = `run_releases x LEFT JOIN run_release_withdrawals w ON w.release_id = x.id`

func scanRelease(rows *sql.Rows, r *RunRelease) error { return scanReleaseAnd(rows, r) }

// scanReleaseAnd reads further columns before those of a release.
func scanReleaseAnd(rows *sql.Rows, r *RunRelease, more ...any) error {
	var evidence string
	var user, name, reason sql.NullString
	var at sql.NullTime
	err := rows.Scan(append(more, &r.ID, &r.UserID, &r.Name, &r.Role, &r.Qualification, &r.Affirmation, &r.Wording, &r.Comment, &r.Although, &evidence,
		&r.EvidenceSHA256, &r.At, &user, &name, &reason, &at)...)
	r.Evidence, r.At = json.RawMessage(evidence), r.At.UTC()
	if at.Valid {
		r.Withdrawn = &Withdrawal{user.String, name.String, reason.String, at.Time.UTC()}
	}
	return err
}

// releasesOf are a run's releases, the newest first.
func releasesOf(ctx context.Context, q querier, runID string) ([]RunRelease, error) {
	return collect(ctx, q, scanRelease, `SELECT `+releaseColumns+` FROM `+releaseTables+` WHERE x.run_id = ? ORDER BY x.id DESC`, runID)
}

// checkReleases holds the releases to the chain.
func (s *Store) checkReleases(ctx context.Context, said sayings) (string, error) {
	all, err := collect(ctx, s.reader, scanRelease, `SELECT `+releaseColumns+` FROM `+releaseTables+` ORDER BY x.id`)
	if err != nil {
		return "", err
	}
	for _, r := range all {
		want, ok := said.releases[r.ID]
		got, err := r.digest()
		switch {
		case err != nil:
			return "", err
		case !ok:
			return fmt.Sprintf("release %s is in no event of the chain: it was slipped in", r.ID), nil
		case got != want:
			return fmt.Sprintf("release %s was changed: its event says otherwise", r.ID), nil
		case said.unreleased[r.ID] != (r.Withdrawn != nil):
			return fmt.Sprintf("the withdrawal of release %s is not as the chain has it", r.ID), nil
		}
		delete(said.releases, r.ID)
	}
	for id := range said.releases {
		return fmt.Sprintf("release %s is in the chain and not in the database: it was removed", id), nil
	}
	return "", nil
}

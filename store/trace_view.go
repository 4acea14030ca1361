package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/countersign/countersign/judge"
)

// TraceView is a revision of a trace as the actor may see it.
type TraceView struct {
	// Trace is whole, with its labels and recorded judgments, unless sealed.
	Trace       judge.Trace
	InternalID  string // of the revision; audit events name it
	Revision    int
	Current     bool // the newest revision
	Hashes      judge.Hashes
	CreatedAt   time.Time
	Revisions   []Revision      // all there are, the oldest first
	Evaluations []EvaluationRow // of this revision, the newest first; sealed ones as such
	// Sealed says that an evaluation of this revision is sealed for the
	// actor, so that judgments and labels are left out.
	Sealed bool
}

// Revision is one content that a trace has had under its id.
type Revision struct {
	Number      int // from 1
	ContentHash string
	CreatedAt   time.Time
}

// GetTrace reads a trace by the file's id; revision 0 is the current one.
// Roles: all.
func (s *Store) GetTrace(ctx context.Context, a Actor, project, externalID string, revision int) (v TraceView, err error) {
	defer wrap(&err, "read trace %q of project %q", externalID, project)
	if err := s.authorise(ctx, a, everyone, "trace.read", "project:"+project); err != nil {
		return v, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return v, err
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT id, current, content_hash, candidate_hash, reference_hash, created_at FROM traces
WHERE project_id = ? AND external_id = ? AND (revision = ? OR (? = 0 AND current))`, p.ID, externalID, revision, revision).
		Scan(&v.InternalID, &v.Current, (*digest)(&v.Hashes.Trace), (*digest)(&v.Hashes.Candidate), (*digest)(&v.Hashes.Reference), &v.CreatedAt)
	if err != nil {
		return v, notFound(err, "trace or revision")
	}
	v.CreatedAt = v.CreatedAt.UTC()
	if v.Trace, v.Revision, v.Sealed, err = s.traceFor(ctx, a, v.InternalID); err != nil {
		return v, err
	}
	if v.Revisions, err = collect(ctx, s.reader, func(rows *sql.Rows, r *Revision) error {
		err := rows.Scan(&r.Number, (*digest)(&r.ContentHash), &r.CreatedAt)
		r.CreatedAt = r.CreatedAt.UTC()
		return err
	}, `SELECT revision, content_hash, created_at FROM traces WHERE project_id = ? AND external_id = ? ORDER BY revision`, p.ID, externalID); err != nil {
		return v, err
	}
	v.Evaluations, err = rowsOfTrace(ctx, s.reader, a, v.InternalID)
	return v, err
}

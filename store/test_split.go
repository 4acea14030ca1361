package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge/calibration"
)

// TestSplit says which labelled traces of a judge are kept from whoever chooses
// between its versions: choosing the best of several on the same labels flatters it.
// A trace lies in it by the hash of its cluster, or of its own id where it has none,
// so traces of one cluster are never on both sides, and later ones find their side
// by themselves.
type TestSplit struct {
	Share    float64 // of the clusters, in (0,1)
	Comment  string
	LockedBy string
	LockedAt time.Time
	Looks    int // how often it has been looked at
	seed     string
}

// Holds says whether a trace lies in the test split.
func (s *TestSplit) Holds(externalID, cluster string) bool {
	if s == nil {
		return false
	}
	unit := "trace\x00" + externalID
	if cluster != "" {
		unit = "cluster\x00" + cluster
	}
	sum := sha256.Sum256([]byte("test split\x00" + s.seed + "\x00" + unit))
	return float64(binary.BigEndian.Uint64(sum[:8])) < s.Share*math.MaxUint64
}

// Look is one look at the test split. Figures are as they were shown then, at the
// level that the looks until then allowed; they leave out what waited blind for
// anybody, so that whoever reads them learns nothing of it.
type Look struct {
	Number  int                `json:"number"`
	By      string             `json:"by"`
	At      time.Time          `json:"at"`
	Figures calibration.Versus `json:"figures"`
	// Again says that the same had been looked at before: nothing new was shown, so
	// it is not counted a second time.
	Again bool `json:"-"`
}

// Of says whether the look was at these, in this order.
func (l Look) Of(who []calibration.Competitor) bool { return slices.Equal(l.Figures.Competitors, who) }

// LockTestSplit keeps a share of a judge's labelled traces for the last comparison,
// once and for all: with a second share one could choose. ErrConflict: it is locked.
// ErrInvalid: the share is not between 0.1 and 0.9. Roles: lead, admin.
func (s *Store) LockTestSplit(ctx context.Context, a Actor, project, judgeName string, share float64, comment string) (err error) {
	defer wrap(&err, "lock the test split of judge %q", judgeName)
	if err := s.authorise(ctx, a, LockTestSplits.roles, LockTestSplits.action, "judge:"+judgeName); err != nil {
		return err
	}
	comment = strings.TrimSpace(comment)
	if !(share >= 0.1 && share <= 0.9) {
		return invalid("share", "is %v: it lies between 0.1 and 0.9", share)
	}
	if err := checkComment("comment", comment, false); err != nil {
		return err
	}
	p, _, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		n, err := t.changed(ctx, `
INSERT INTO judge_splits (project_id, judge, share, seed, comment, locked_by, locked_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, judge) DO NOTHING`, p.ID, judgeName, share, t.newID(), comment, a.Name, t.now)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("it is locked already, and a second share would be a choice: %w", ErrConflict)
		}
		sum, err := t.rowDigest(ctx, chainedSplits, p.ID, judgeName, "")
		if err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: LockTestSplits.action, subject: "judge:" + judgeName,
			data: map[string]any{"share": share, "comment": comment, "row_sha256": sum}})
		return nil
	})
}

// testSplit reads a judge's; nil: it has none.
func testSplit(ctx context.Context, q querier, projectID, judgeName string) (*TestSplit, error) {
	s := &TestSplit{}
	err := q.QueryRowContext(ctx, `
SELECT share, seed, comment, locked_by, locked_at,
    (SELECT count(*) FROM judge_test_looks l WHERE l.project_id = s.project_id AND l.judge = s.judge)
FROM judge_splits s WHERE s.project_id = ? AND s.judge = ?`, projectID, judgeName).
		Scan(&s.Share, &s.seed, &s.Comment, &s.LockedBy, &s.LockedAt, &s.Looks)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	s.LockedAt = s.LockedAt.UTC()
	return s, err
}

// mostLooks bounds the list of looks.
const mostLooks = 50

// looks are the newest looks at a judge's test split.
func looks(ctx context.Context, q querier, projectID, judgeName string) ([]Look, error) {
	return collect(ctx, q, func(r *sql.Rows, l *Look) error {
		var figures string
		if err := r.Scan(&l.Number, &figures, &l.By, &l.At); err != nil {
			return err
		}
		l.At = l.At.UTC()
		return json.Unmarshal([]byte(figures), &l.Figures)
	}, `
SELECT number, figures, looked_by, looked_at FROM judge_test_looks WHERE project_id = ? AND judge = ? ORDER BY number DESC LIMIT ?`,
		projectID, judgeName, mostLooks)
}

// looksTried is how often a look is made anew because somebody else looked meanwhile.
const looksTried = 20

// LookAtTestSplit compares versions on the test split, and records that: the n-th
// look has intervals at 1-0.05/n and p-values times n (Bonferroni). Whoever looks at the
// same versions while no label of theirs has changed gets the look that was made, so a
// form that is sent twice is one look. ErrConflict: the split is not locked. Roles:
// lead, admin.
func (s *Store) LookAtTestSplit(ctx context.Context, a Actor, project, judgeName string, who []calibration.Competitor) (look Look, err error) {
	defer wrap(&err, "look at the test split of judge %q", judgeName)
	if err := s.authorise(ctx, a, LookAtTestSplits.roles, LookAtTestSplits.action, "judge:"+judgeName); err != nil {
		return look, err
	}
	if err := mayCompare(who); err != nil {
		return look, err
	}
	p, _, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return look, err
	}
	named, err := json.Marshal(who)
	if err != nil {
		return look, err
	}
	for range looksTried {
		figures, number, seen, err := s.testFigures(ctx, p.ID, judgeName, who)
		if err != nil {
			return look, err
		}
		if seen != nil {
			return *seen, nil
		}
		body, err := json.Marshal(figures)
		if err != nil {
			return look, err
		}
		look = Look{Number: number, Figures: figures, By: a.Name}
		again := false
		err = s.write(ctx, func(t *tx) error {
			if err := t.lockProject(ctx, p.ID); err != nil {
				return err
			}
			look.At = t.now
			n, err := t.changed(ctx, `
INSERT INTO judge_test_looks (project_id, judge, number, competitors, figures, looked_by, looked_at) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (project_id, judge, number) DO NOTHING`, p.ID, judgeName, number, string(named), string(body), a.Name, t.now)
			if again = n == 0; err != nil || again {
				return err
			}
			sum, err := t.rowDigest(ctx, chainedLooks, p.ID, judgeName, strconv.Itoa(number))
			if err != nil {
				return err
			}
			t.audit(event{project: p.Name, actor: a, action: LookAtTestSplits.action, subject: "judge:" + judgeName,
				data: map[string]any{"number": number, "competitors": who, "n": figures.N, "paired": figures.Duel, "row_sha256": sum}})
			return nil
		})
		if err != nil || !again {
			return look, err
		}
	}
	return look, fmt.Errorf("others look at it all the time: %w", ErrConflict)
}

// testFigures are those of the next look, or the newest look at these versions where
// its figures would come out the same.
func (s *Store) testFigures(ctx context.Context, projectID, judgeName string, who []calibration.Competitor) (v calibration.Versus, number int, seen *Look, err error) {
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return v, 0, nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	split, err := testSplit(ctx, read, projectID, judgeName)
	if err != nil {
		return v, 0, nil, err
	}
	if split == nil {
		return v, 0, nil, fmt.Errorf("no test split is locked, so there is nothing to look at: %w", ErrConflict)
	}
	nobody := Actor{UserID: "-", Role: Lead} // who may decide and has answered nothing
	c, err := compared(ctx, read, nobody, projectID, judgeName, who)
	if err != nil {
		return v, 0, nil, err
	}
	held := slices.DeleteFunc(c.Labelled, func(t ComparedTrace) bool { return !split.Holds(t.TraceID, t.Cluster) })
	figures := func(number int) (calibration.Versus, error) {
		return calibration.CompareJudges(who, c.Labels, c.Ordinal, items(held), number)
	}
	made, err := looks(ctx, read, projectID, judgeName)
	if err != nil {
		return v, 0, nil, err
	}
	if at := slices.IndexFunc(made, func(l Look) bool { return l.Of(who) }); at >= 0 {
		now, err := figures(made[at].Number)
		if err != nil {
			return v, 0, nil, err
		}
		if same, err := alike(now, made[at].Figures); err != nil || same {
			made[at].Again = true
			return v, 0, &made[at], err
		}
	}
	number = split.Looks + 1
	v, err = figures(number)
	return v, number, nil, err
}

// alike compares figures with those that were kept, which have lost what is in no JSON.
func alike(now, kept calibration.Versus) (bool, error) {
	x, err := json.Marshal(now)
	if err != nil {
		return false, err
	}
	var read calibration.Versus
	if err := json.Unmarshal(x, &read); err != nil {
		return false, err
	}
	if x, err = json.Marshal(read); err != nil {
		return false, err
	}
	y, err := json.Marshal(kept)
	return string(x) == string(y), err
}

// items are the labelled traces as figures are made of them.
func items(traces []ComparedTrace) []calibration.JudgedTwice {
	all := make([]calibration.JudgedTwice, len(traces))
	for i, t := range traces {
		all[i] = t.JudgedTwice
	}
	return all
}

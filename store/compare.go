package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// MostCompared is how many versions and models one comparison takes.
const MostCompared = 5

// Compared is what two or more judges said about the same traces, those that every
// one of them judged. The first two are the pair.
type Compared struct {
	Who     []calibration.Competitor
	Labels  []judge.Label // the scale that all have; nil where they differ
	Ordinal bool

	Shared   int           // traces that all judged, each in one revision
	Withheld int           // more of them, left out: the reader may still answer blind about the trace
	Pairs    []VerdictPair // Shared by what the first two said
	Effort   []Effort      // what Shared took, in the order of Who

	Labelled []ComparedTrace // a label of it counts: blind, imported or adjudicated
	Visible  []ComparedTrace // labelled with a verdict on the screen

	// Differences are traces on which the first two differ, the gravest first.
	Differences []ComparedTrace
}

// VerdictPair counts traces by what two judges said.
type VerdictPair struct {
	First  judge.Verdict `json:"first"`
	Second judge.Verdict `json:"second"`
	N      int           `json:"n"`
}

// ComparedTrace is a labelled trace with what each judge said of it.
type ComparedTrace struct {
	TraceID string // the file's id
	Domain  string
	Stakes  judge.Stakes
	// Labelled: people answered, as Human says.
	Labelled bool
	calibration.JudgedTwice
}

// competitor is one of those compared, as SQL finds it.
func competitorIs(e string) string {
	return e + `.judge = ? AND ` + e + `.prompt_version = ? AND ` + raterOf(e) + ` = ? AND ` + e + `.verdict <> ''`
}

// Competitors are the versions and models of a judge that gave verdicts, those with
// most that count first; of shadows none counts. ErrNotFound: the project has no such judge. Roles: those of CalibrationCounts.
func (s *Store) Competitors(ctx context.Context, a Actor, project, judgeName string) (_ []calibration.Competitor, err error) {
	defer wrap(&err, "list who judged as %q", judgeName)
	p, _, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return nil, err
	}
	return competitors(ctx, s.reader, p.ID, judgeName)
}

func competitors(ctx context.Context, q querier, projectID, judgeName string) ([]calibration.Competitor, error) {
	return collect(ctx, q, func(r *sql.Rows, c *calibration.Competitor) error { return r.Scan(&c.PromptVersion, &c.Model) }, `
SELECT prompt_version, model FROM (
    SELECT prompt_version, model, n FROM agreement_cells WHERE project_id = ? AND judge = ? AND n > 0
    UNION ALL
    SELECT x.prompt_version, CASE WHEN x.samples > 1 THEN x.model || ' ×' || x.samples ELSE x.model END, 0 FROM shadow_runs x
    WHERE x.project_id = ? AND x.judge = ? AND EXISTS (SELECT 1 FROM evaluations e WHERE e.project_id = x.project_id AND e.judge = x.judge
        AND e.shadow_of <> '' AND e.prompt_version = x.prompt_version AND e.model = x.model AND e.samples = x.samples AND e.verdict <> '')
) there GROUP BY prompt_version, model ORDER BY sum(n) DESC, prompt_version, model`, projectID, judgeName, projectID, judgeName)
}

// FindCompetitor finds one by how a person names it: a version, or the first 8
// digits or more of it, a comma, and a model; without a comma, the version must have
// one model only. ErrInvalid names what there is.
func FindCompetitor(known []calibration.Competitor, field, name string) (calibration.Competitor, error) {
	version, model, named := strings.Cut(name, ",")
	var found []calibration.Competitor
	for _, c := range known {
		fits := c.PromptVersion == version || len(version) >= fewestDigits && strings.HasPrefix(c.PromptVersion, version)
		if fits && (!named || c.Model == model) {
			found = append(found, c)
		}
	}
	exact := slices.IndexFunc(found, func(c calibration.Competitor) bool { return c.PromptVersion == version && (named || len(found) == 1) })
	switch {
	case exact >= 0:
		return found[exact], nil
	case len(found) == 1:
		return found[0], nil
	}
	var there []string
	for _, c := range known {
		there = append(there, c.PromptVersion[:min(12, len(c.PromptVersion))]+","+c.Model)
	}
	if len(there) == 0 {
		return calibration.Competitor{}, invalid(field, "is %q, and this judge has given no verdict yet", name)
	}
	return calibration.Competitor{}, invalid(field, "%q names %d of those that gave verdicts; write one of %s", name, len(found), strings.Join(there, ", "))
}

// Compare reads what 2 to MostCompared versions and models of a judge said about the
// same traces. Of several evaluations of a trace by one of them the newest counts.
// A trace on which the reader may still answer blind is left out, whoever of the
// compared waits, and counted in Withheld. Roles: those of CalibrationCounts.
func (s *Store) Compare(ctx context.Context, a Actor, project, judgeName string, who []calibration.Competitor) (c Compared, err error) {
	defer wrap(&err, "compare versions of judge %q", judgeName)
	if err := mayCompare(who); err != nil {
		return c, err
	}
	p, _, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return c, err
	}
	read, err := s.reader.snapshot(ctx) // one moment: the parts must be of the same traces
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	return compared(ctx, read, a, p.ID, judgeName, who)
}

func mayCompare(who []calibration.Competitor) error {
	if len(who) < 2 || len(who) > MostCompared {
		return invalid("versions", "are %d: between 2 and %d can be compared", len(who), MostCompared)
	}
	for i, one := range who {
		if slices.Contains(who[:i], one) {
			return invalid("versions", "name %s by %s twice: a version is compared with another one", one.PromptVersion, one.Model)
		}
	}
	return nil
}

func compared(ctx context.Context, q querier, a Actor, projectID, judgeName string, who []calibration.Competitor) (c Compared, err error) {
	c.Who = who
	on := sameTraces{projectID: projectID, judge: judgeName, who: who, waiting: waitingFor(a, projectID, judgeName)}
	if err := on.findSeveral(ctx, q); err != nil {
		return c, err
	}
	if c.Labels, c.Ordinal, err = commonScale(ctx, q, projectID, judgeName, who); err != nil {
		return c, err
	}
	if err := on.readShared(ctx, q, &c); err != nil {
		return c, err
	}
	if err := on.readTimes(ctx, q, &c); err != nil {
		return c, err
	}
	if err := on.readLabelled(ctx, q, &c); err != nil {
		return c, err
	}
	c.Differences, err = on.differences(ctx, q, c.Labelled)
	return c, err
}

// sameTraces is what the queries of one Compare have in common.
type sameTraces struct {
	projectID, judge string
	who              []calibration.Competitor
	waiting          sealing // a list of the traces that wait for the reader
	several          bool    // a trace may have several evaluations by one of who
}

// waitingFor lists the traces of which an evaluation by the judge is sealed for an
// actor. It is read once and held against every trace, where sealedFor would ask
// for each.
func waitingFor(a Actor, projectID, judgeName string) sealing {
	if !a.MayDecide() {
		return sealing{sql: `SELECT '' AS trace_id WHERE 1 = 0`}
	}
	return sealing{sql: `SELECT w.trace_id FROM reviews w WHERE w.project_id = ? AND w.judge = ? AND ` + blindly("w") + `
  AND NOT EXISTS (SELECT 1 FROM first_answers f WHERE f.review_id = w.id AND f.user_id = ?)
  AND NOT EXISTS (SELECT 1 FROM exposures x WHERE x.evaluation_id = w.evaluation_id AND x.user_id = ?)`,
		args: []any{projectID, judgeName, a.UserID, a.UserID}}
}

// from joins the evaluations e0, e1, … of those compared on one trace, between tables
// that come before and after them. CROSS JOIN: SQLite, which has no statistics, begins
// with the one on the left.
func (on sameTraces) from(before, after string) (sql string, args []any) {
	var b strings.Builder
	b.WriteString(`
FROM ` + before + `evaluations e0`)
	for i := range on.who[1:] {
		fmt.Fprintf(&b, ` CROSS JOIN evaluations e%d`, i+1)
	}
	project := `e0.project_id`
	if before != "" {
		project += ` || ''` // found by its trace: the index by project and judge gives all of the judge, for each trace anew
	}
	b.WriteString(after + ` WHERE ` + project + ` = ?`)
	args = append(args, on.projectID)
	for i, c := range on.who {
		e := fmt.Sprintf("e%d", i)
		b.WriteString(` AND ` + competitorIs(e))
		args = append(args, on.judge, c.PromptVersion, c.Model)
		if i > 0 {
			b.WriteString(` AND ` + e + `.trace_id = e0.trace_id`)
		}
		if on.several {
			b.WriteString(` AND ` + newestOfIts(e))
		}
	}
	return b.String(), args
}

// newestOfIts says that a trace has no newer evaluation by the same version and model.
func newestOfIts(e string) string {
	return `NOT EXISTS (SELECT 1 FROM evaluations n WHERE n.trace_id = ` + e + `.trace_id AND n.judge = ` + e + `.judge
    AND n.prompt_version = ` + e + `.prompt_version AND ` + raterOf("n") + ` = ` + raterOf(e) + ` AND n.verdict <> '' AND n.id > ` + e + `.id)`
}

// findSeveral asks whether any trace has several evaluations by one of those compared,
// so that most comparisons need not look for them trace by trace, which takes longer
// than all the rest.
func (on *sameTraces) findSeveral(ctx context.Context, q querier) error {
	from, args := on.from("", "")
	var pairs, traces int
	err := q.QueryRowContext(ctx, `SELECT count(*), count(DISTINCT e0.trace_id) `+from, args...).Scan(&pairs, &traces)
	on.several = pairs > traces
	return err
}

// waits is the condition that a trace waits for the reader.
func (on sameTraces) waits() string { return `e0.trace_id IN (` + on.waiting.sql + `)` }

// readLabelled reads the traces that people labelled and all compared judged.
func (on sameTraces) readLabelled(ctx context.Context, q querier, c *Compared) error {
	from, args := on.from(`consensus c CROSS JOIN `, ` JOIN traces t ON t.id = e0.trace_id`)
	said := ""
	for i := range on.who {
		said += fmt.Sprintf(", e%d.label, e%d.verdict", i, i)
	}
	type row struct {
		ComparedTrace
		visible bool
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, v *row) error {
		v.Labelled = true
		v.Judges = make([]calibration.Answer, len(on.who))
		into := []any{&v.TraceID, &v.Domain, &v.Stakes, &v.Cluster, &v.Human.Label, &v.Human.Verdict, &v.Human.Abstained, &v.Human.Tied, &v.visible}
		for i := range v.Judges {
			into = append(into, &v.Judges[i].Label, &v.Judges[i].Verdict)
		}
		return r.Scan(into...)
	}, `
SELECT t.external_id, t.domain, t.stakes, c.cluster, c.label, c.verdict, c.abstained OR c.tied, c.tied AND NOT c.abstained, c.visible`+said+`
`+from+` AND c.project_id = ? AND c.judge = ? AND e0.trace_id = c.trace_id AND NOT `+on.waits()+`
ORDER BY e0.trace_id`, slices.Concat(args, []any{on.projectID, on.judge}, on.waiting.args)...)
	for _, v := range rows {
		if v.visible {
			c.Visible = append(c.Visible, v.ComparedTrace)
		} else {
			c.Labelled = append(c.Labelled, v.ComparedTrace)
		}
	}
	return err
}

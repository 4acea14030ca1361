package store

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/countersign/countersign/judge"
)

// ReviewTime is how long people take for one item.
type ReviewTime struct {
	Judge   string
	Stakes  judge.Stakes
	Seconds float64 // median from claim to decision
	N       int     // decisions that it rests on
	Basis   string  // a constant below
}

// Bases of a pace: whose decisions it is the median of.
const (
	PaceOfJudgeAndStakes = "judge and stakes"
	PaceOfJudge          = "judge"
	PaceOfProject        = "project"
	PaceAssumed          = "assumed" // nobody has decided enough yet
)

const (
	// fewestPaced is under how many decisions a median says too little, so that
	// a wider one is taken.
	fewestPaced = 5
	// assumedSeconds stands in where no median can be taken.
	assumedSeconds = 120
	pacedDecisions = 5000
)

// ReviewPace is the pace at which people decide, by judge and stakes.
type ReviewPace []ReviewTime

// Of gives the pace for a judge and stakes, and says what it rests on: the judge
// at these stakes, else the judge, else the project, each with at least 5
// decisions, else two minutes are assumed.
func (p ReviewPace) Of(judgeName string, stakes judge.Stakes) ReviewTime {
	for _, at := range []ReviewTime{{judgeName, stakes, 0, 0, PaceOfJudgeAndStakes}, {judgeName, "", 0, 0, PaceOfJudge}, {"", "", 0, 0, PaceOfProject}} {
		i := slices.IndexFunc(p, func(x ReviewTime) bool { return x.Judge == at.Judge && x.Stakes == at.Stakes && x.Basis == at.Basis })
		if i >= 0 && p[i].N >= fewestPaced {
			found := p[i]
			found.Judge, found.Stakes = judgeName, stakes
			return found
		}
	}
	return ReviewTime{Judge: judgeName, Stakes: stakes, Seconds: assumedSeconds, Basis: PaceAssumed}
}

// ReviewPace takes the medians of the newest 5,000 decisions of a project.
// Roles: lead, auditor, admin.
func (s *Store) ReviewPace(ctx context.Context, a Actor, project string) (pace ReviewPace, err error) {
	defer wrap(&err, "read how fast items of project %q are decided", project)
	if err := s.authorise(ctx, a, readers, "decision.listed", "project:"+project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	type took struct {
		judge   string
		stakes  judge.Stakes
		seconds float64
	}
	decided, err := collect(ctx, s.reader, func(r *sql.Rows, d *took) error { return r.Scan(&d.judge, &d.stakes, &d.seconds) }, `
SELECT r.judge, r.stakes, d.seconds FROM decisions d JOIN reviews r ON r.id = d.review_id
WHERE r.project_id = ? AND `+standing+` ORDER BY d.id DESC LIMIT ?`, p.ID, pacedDecisions)
	if err != nil {
		return nil, err
	}
	type group struct {
		judge  string
		stakes judge.Stakes
		basis  string
	}
	seconds := map[group][]float64{}
	for _, d := range decided {
		for _, g := range []group{{d.judge, d.stakes, PaceOfJudgeAndStakes}, {d.judge, "", PaceOfJudge}, {"", "", PaceOfProject}} {
			seconds[g] = append(seconds[g], d.seconds)
		}
	}
	for g, all := range seconds {
		pace = append(pace, ReviewTime{Judge: g.judge, Stakes: g.stakes, Seconds: median(all), N: len(all), Basis: g.basis})
	}
	slices.SortFunc(pace, func(a, b ReviewTime) int {
		return cmp.Or(cmp.Compare(a.Judge, b.Judge), cmp.Compare(a.Stakes, b.Stakes), cmp.Compare(a.Basis, b.Basis))
	})
	return pace, nil
}

// median of at least one value; of an even number the mean of the middle two.
func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

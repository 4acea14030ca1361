// Package calibration turns counts of human and judge answers into the report
// on how far a judge can be trusted: what `countersign calibration --json`,
// the API and the calibration page show.
//
// It composes figures of package agreement; it never reads a database, never
// invents an answer for a missing one, and never shows a coefficient without
// its interval, its n and the way the labels were sampled.
package calibration

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// Counts is everything a report is computed from: one judge, model and prompt
// version, counted by the store with GROUP BY. Cells are joint counts of whole
// answers, so that the rules of comparison (which scale, what is an
// abstention, what counts for the headline) live here and not in SQL.
type Counts struct {
	Judge         string
	Model         string
	PromptVersion string

	// Labels is the declared scale of the judge, best first, abstain labels
	// included and marked. Ordinal says that its order means something.
	Labels  []judge.Label
	Ordinal bool

	// Cells pair a human answer with the judge's answer on the same trace. The
	// human answer is the adjudicated one where there is one; else, as the
	// store has it, the newest decision or the majority of the imported labels,
	// so that one trace is one pair and the pairs are no more dependent than
	// the traces. Evaluations without any human answer are not counted here.
	// Equal cells may occur several times; their N are added.
	Cells []Cell
	// Items is the number of distinct evaluations behind the cells that are not
	// Visible; smaller than their sum only when a caller pairs each of several
	// answers. 0 = not counted.
	Items int
	// Clusters is the number of distinct trace clusters among Items, a trace
	// without a cluster counting as its own. 0 = not counted.
	Clusters int

	// Sealed is the number of evaluations with a human answer that are left out,
	// because the reader may still review them blind and sums would tell.
	Sealed int

	// Strata say how the human answers in the cells that are not Visible came
	// to be asked for.
	Strata []StratumCount

	// Judged counts all evaluations of this judge, model and version that have a
	// verdict and that the reader may know of; Waiting those that are left out
	// because they wait for a blind review which the reader may give.
	Judged  []JudgedCount
	Waiting int
	// DrawnWaiting are labels that were drawn beyond the policy's and that nobody has
	// given yet; whoever counts weighs the earlier ones as if these were not drawn.
	DrawnWaiting int

	// Slices count the labels of the cells that are not Visible by domain, stakes,
	// reason, week and score. What waits blind is in none.
	Slices []SliceCount

	// HumanPairs are the pairs of reviewers who answered for the same trace and
	// judge, whatever the model: the same pairs for every report of a judge.
	HumanPairs []PairCounts

	// First and Last are the times of the earliest and latest human answer in
	// the cells; zero when unknown.
	First, Last time.Time
}

// Answer is what a person or a judge said about one trace.
type Answer struct {
	// Label is the judge's own class; empty when only a verdict was given.
	Label string
	// Verdict is pass, borderline or fail; empty when only a label was given
	// (then the label's declared verdict stands in, if it has one).
	Verdict judge.Verdict
	// Abstained: the person said "cannot judge". An answer whose label is
	// declared abstain is an abstention without this being set. It is set, too,
	// where people's answers are tied: there is no answer of people.
	Abstained bool
	// Tied: people's answers are tied, and nobody abstained. Kept counts don't tell.
	Tied bool
}

// Cell counts the pairs with equal answers.
type Cell struct {
	Human, Judge Answer
	N            int
	// Visible: the judge's verdict was on the screen before the person's first
	// answer. False for blind decisions and for imported labels that do not say
	// blind: false. Visible pairs stay out of the headline. For a blind item,
	// Human is the first answer, not the one after the reveal.
	Visible bool
	// Adjudicated: Human is an adjudicated answer.
	Adjudicated bool
	// Stratum says how the item came to people (judge.StratumFlagged, …), and
	// InclusionProbability in (0,1] with what chance; 0 when it is not known.
	Stratum              string
	InclusionProbability float64
}

// JudgedCount counts evaluations by the judge's answer, labelled or not. Label tells
// abstentions, which are left out; empty where only a verdict was given.
type JudgedCount struct {
	Verdict judge.Verdict
	Label   string
	N       int
	// Reached are those that people have labelled in any way or hold in a blind
	// review: the others were not drawn, as far as is known.
	Reached int
}

// Dimensions by which labels are sliced.
const (
	ByDomain = "domain"
	ByStakes = "stakes"
	ByReason = "reason"
	ByWeek   = "week" // the week of the label: its number since the one of 29 December 1969
	ByBand   = "band" // the tenth of the judge's score: 0 to 9
)

// SliceCount counts the labels of the headline that share a value of a dimension.
// A label counts for every reason that its evaluation has.
type SliceCount struct {
	Dimension, Value string
	Cells            []Cell
}

// StratumCount says how many human answers came from one sampling stratum.
type StratumCount struct {
	Stratum string // judge.StratumFlagged, …; what a file says otherwise; may be empty
	N       int
	// InclusionProbability in (0,1]; 0 when it is not known.
	InclusionProbability float64
}

// PairCounts are the answers of two reviewers about the same traces, never the
// adjudicated answer, at most one answer of each per trace (the last that was
// not superseded). A and B are names as people know them; A < B.
type PairCounts struct {
	A, B  string
	Cells []PairCell
}

// PairCell counts traces about which the pair gave equal answers.
type PairCell struct {
	A, B Answer
	N    int
	// Visible: at least one of the two had seen the judge's verdict before.
	// Such answers measure the judge and not the people; they are left out.
	Visible bool
}

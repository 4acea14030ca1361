package views

import (
	"strings"

	"github.com/a-h/templ"
)

// StepsBench is the workbench of the judges that hold an output against a
// reference: one table over the whole width, in which each step of the reference
// stands beside the steps of the output that stand for it.
type StepsBench struct {
	Question string
	// Candidate and Reference are how many steps the two texts have.
	Candidate, Reference int
	// Loose says that the texts are too long to be lined up: which step stands for
	// which is left to the person.
	Loose bool
	// Choices of a pair, for the line that explains them.
	Choices []RulingChoice
	Rows    []StepRow
	// Answer asks whether the final answers are the same; nil: it is not asked.
	Answer *AnswerRow
	// First asks for the first wrong step. Its choices stand at the steps; Rest are
	// those that stand at none.
	First RulingUnit
	Rest  []RulingChoice
}

// StepRow is a step of the reference with those of the output that stand for it,
// or a step of the output that stands for none.
type StepRow struct {
	RulingUnit
	// Candidate steps; none: Gap says so.
	Candidate []Slab
	Gap       string
	// Reference step; its text is empty where there is none, and ReferenceGap says so.
	Reference    Slab
	ReferenceGap string
	// JudgeWord is the judge's own word for it, and Critical that it counts a
	// critical error here; both empty while sealed.
	JudgeWord string
	Critical  bool
}

// Slab is one step as it is drawn.
type Slab struct {
	Anchor string // the element's id; empty: it has none
	Label  string // "Candidate 4"
	Text   string
	Blocks []Block // the same as Markdown has it; none: it is drawn as written
	// First is the choice that calls this step the first wrong one; its zero value:
	// it is offered elsewhere.
	First RulingChoice
}

// AnswerRow compares the final answers.
type AnswerRow struct {
	RulingUnit
	// Candidate and Reference are the final answers; empty: none was found.
	Candidate, Reference string
	// Line says what comparing them found; empty: they are no plain numbers.
	Line string
}

func (b *StepsBench) wide() bool                         { return true }
func (b *StepsBench) trace(p DeskPage) templ.Component   { return stepsBench(p, b) }
func (b *StepsBench) rulings(p DeskPage) templ.Component { return templ.NopComponent }
func (r *StepRow) part() RulingPart                      { return r.Parts[0] }
func (r *StepRow) missing() bool                         { return len(r.Candidate) == 0 && r.Reference.Text != "" }
func (b *StepsBench) first() RulingPart                  { return b.First.Parts[0] }

// tieClass is how the line between two steps is drawn before anything is chosen;
// the stylesheet redraws it with the choice.
func (r *StepRow) tieClass() string {
	class := "tie"
	switch {
	case len(r.Candidate) == 0:
		class += " half-r"
	case r.Reference.Text == "":
		class += " half-l"
	}
	return class
}

// toneOf is how grave a choice is: pass, part, fail or nothing.
func toneOf(value string) string {
	switch value {
	case "equivalent", "valid", "yes":
		return "pass"
	case "partial", "order", "irrelevant":
		return "part"
	case "contradicts", "missing", "erroneous", "no":
		return "fail"
	}
	return ""
}

// chosen is the person's choice, else the judge's where it may be known.
func (p DeskPage) chosen(r RulingPart) string {
	if r.Value != "" {
		return r.Value
	}
	return p.judgedOf(r)
}

// finerWord is the judge's own word where its choice does not say it already.
func (r *StepRow) finerWord() string {
	word := strings.ToLower(words(r.JudgeWord))
	for _, c := range r.part().Choices {
		if c.Value == r.part().Judged && strings.HasPrefix(strings.ToLower(c.Text), word) {
			return ""
		}
	}
	return word
}

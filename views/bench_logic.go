package views

import "github.com/a-h/templ"

// LogicBench is the workbench of the judges of reasoning: a score for each
// dimension of the rubric, the report's violations beside the words that they
// quote, and violations of the person's own.
type LogicBench struct {
	// Trace with the quoted words marked. While sealed it holds no mark.
	Trace      TraceText
	Dimensions []DimensionUnit
	// Loose are violations of no dimension of the rubric.
	Loose []ViolationUnit
	// Own are the person's violations: those given and as many empty ones as the
	// page offers.
	Own []OwnViolation
	// Severities, Names and Steps to choose from for a violation of one's own;
	// Quoted are at most the bytes of a quotation.
	Severities []RulingChoice
	Names      []Choice
	Steps      int
	// ComesTo says in a sentence what the scores so far come to; empty: nothing yet.
	ComesTo string
}

// DimensionUnit is a question of the rubric with its violations.
type DimensionUnit struct {
	RulingUnit
	// Check is what is asked, in a sentence without a full stop; may be empty.
	Check string
	// Anchors say what the scores from 1 mean; empty where the rubric is not known.
	Anchors    []string
	Violations []ViolationUnit
}

// ViolationUnit is a fault that the report finds in the reasoning.
type ViolationUnit struct {
	RulingUnit
	Number   int // in the report's order, from 1
	Severity string
	Class    string // the fallacy or rule in the judge's words; may be empty
	Step     int    // of the output, from 1; 0: none
	Quote    string
	// Where is how the quotation stands in the output: MatchExact, MatchNear or
	// MatchNotFound; MatchNoQuote when it quotes nothing.
	Where       Match
	Explanation string
}

// OwnViolation is a violation that the person finds and the judge did not.
type OwnViolation struct {
	Number                    int // from 1: the part is "add/" and the number
	Severity                  string
	Dimension                 string
	Step                      int // 0: none
	Quote, Class, Explanation string
	Locked                    bool
}

// Field is the name of one of its fields in the desk's form; its severity is the
// ruling itself.
func (v OwnViolation) Field(name string) string {
	return "added." + itoa(v.Number) + "." + name
}

func (v OwnViolation) given() bool { return v.Explanation != "" || v.Severity != "" || v.Quote != "" }

func (b *LogicBench) wide() bool { return false }
func (b *LogicBench) trace(p DeskPage) templ.Component {
	return traceDocument(unmarked(b.Trace, p.sealed()), "")
}
func (b *LogicBench) rulings(p DeskPage) templ.Component { return logicRulings(p, b) }

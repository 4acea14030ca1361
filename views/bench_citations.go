package views

import "github.com/a-h/templ"

// CitationsBench is the workbench of the judge of citations: the trace with its
// claims underlined and a chip for each marker, and beside it each citation with
// the passage that it leads to and four questions.
type CitationsBench struct {
	// Trace with a chip for each citation.
	Trace TraceText
	// Units in order of occurrence.
	Units []CitationUnit
	// Beyond is how many citations more the trace has: a desk takes no rulings of them.
	Beyond int
	// Sources that the trace brings, in their order. Whole short ones are drawn
	// under the citations; of the others the passages are shown, and the whole has
	// a page of its own.
	Sources []WholeSource
}

// CitationUnit is one occurrence of a marker: what it leads to, what comparing
// found, and the four questions. What comparing found is evidence and is never
// sealed.
type CitationUnit struct {
	RulingUnit
	N      int    // number of the occurrence, from 1
	Marker string // the id as cited: 3, doc_3
	Step   int    // the step it is in, from 1; 0: unknown
	// Source is the title of what is cited, its id when it has none.
	Source string
	// Match is what comparing the quotation with the source found.
	Match Match
	// MatchHead says it in a few words, MatchLine in sentences.
	MatchHead string
	MatchLine []Segment
	// Altered says what of a quotation is changed so that it says something else;
	// empty: nothing is, as far as can be told.
	Altered string
	// Quoted is the quotation as the trace has it, with the words that the source
	// has not; empty where it has them all.
	Quoted []Segment
	// Passage of the source, matched words marked; empty: there is none to show.
	Passage []Segment
	// PassageNote says what passage is shown where the quotation leads to none.
	PassageNote string
	// WholeHref leads to the same place in the whole source; empty: there is none.
	WholeHref string
	// WholeOpens says that it leads to another page.
	WholeOpens bool
	// Open is drawn unfolded.
	Open bool
	// PageHref is the desk with what is inside, in a trace of very many citations,
	// where the script gets it as the citation is opened; empty: it is on the page.
	PageHref string
}

// WholeSource is a source as the trace brings it.
type WholeSource struct {
	Anchor  string // the element's id
	Title   string
	ID      string
	Address string // its URL, shown as text and never as a link
	// Href of its own page; then Text is empty.
	Href string
	// Text with the passages marked that citations lead to, each after a chip that
	// leads back.
	Text []Segment
}

// CitationBodies are the insides of several citations of a desk, as the script
// asks for them.
type CitationBodies struct {
	Desk  DeskPage
	Units []CitationUnit
}

// SourcePage is one source of an item as a whole, beside its desk.
type SourcePage struct {
	Frame
	Review string // the id of the review that it belongs to
	Title  string // of the item
	Source WholeSource
}

func (b *CitationsBench) wide() bool { return false }
func (b *CitationsBench) trace(p DeskPage) templ.Component {
	return traceDocument(unmarked(b.Trace, p.sealed()), "")
}
func (b *CitationsBench) rulings(p DeskPage) templ.Component { return citationRulings(p, b) }

// noted are the parts of which the judge says something in words.
func (u RulingUnit) noted() (list []RulingPart) {
	for _, p := range u.Parts {
		if p.JudgeNote != "" {
			list = append(list, p)
		}
	}
	return list
}

// held are a unit's rulings, for a form that does not draw its choices.
func (u RulingUnit) held() (list []RulingPart) {
	for _, p := range u.Parts {
		if (p.Value != "" || p.Note != "") && !p.Locked {
			list = append(list, p)
		}
	}
	return list
}

// noteOf is the part that takes what a person adds to a citation in words: the
// last one, support.
func (u RulingUnit) noteOf() RulingPart { return u.Parts[len(u.Parts)-1] }

func (u *CitationUnit) citedLine() string {
	s := "cited as [" + u.Marker + "]"
	if u.Step > 0 {
		s += " in step " + itoa(u.Step)
	}
	return s
}

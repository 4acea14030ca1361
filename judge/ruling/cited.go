package ruling

import (
	"regexp"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// passageContext is how many bytes of a source are shown before and after the
// matched words.
const passageContext = 320

// CitationsOf finds every citation of a trace, in order, and compares it with its
// source. markers is the project's own form of a marker; nil: the default one.
func CitationsOf(t *judge.Trace, markers *regexp.Regexp) []Citation {
	return citationsIn(t, evidence.Steps(t.Output), markers)
}

func citationsIn(t *judge.Trace, steps []evidence.Step, pattern *regexp.Regexp) []Citation {
	markers := evidence.MarkersIn(t.Output, steps, t.Sources, pattern)
	claims := evidence.ClaimsIn(t.Output, steps, markers)
	sources := make(map[string]*library, len(t.Sources))
	for i := range t.Sources {
		if _, twice := sources[t.Sources[i].ID]; !twice {
			sources[t.Sources[i].ID] = &library{source: &t.Sources[i]}
		}
	}
	// Markers side by side share a claim, and often a source.
	type shelf struct {
		source     *library
		start, end int
	}
	known := map[shelf]Citation{}
	all := make([]Citation, len(markers))
	for i, m := range markers {
		c := Citation{Kind: MatchNoSource, Match: evidence.Match{Kind: evidence.None}}
		if from := sources[m.CitationID]; from != nil {
			at := shelf{from, claims[i].Start, claims[i].End}
			found, done := known[at]
			if !done {
				found = from.compare(claims[i])
				known[at] = found
			}
			c = found
		} else {
			c.Quote = longestQuotation(claims[i].Text)
		}
		c.Marker, c.Claim = m, claims[i]
		all[i] = c
	}
	return all
}

// library is a source prepared when it is first cited.
type library struct {
	source  *judge.Source
	text    *evidence.Source
	numbers evidence.NumberIndex
}

// compare looks for the claim's longest quotation in the source, and without one
// for the passage that shares most words with the claim.
func (l *library) compare(claim evidence.Claim) Citation {
	if l.text == nil {
		l.text = evidence.NewSource(l.source.Text)
		l.numbers = evidence.IndexNumbers(evidence.Numbers(l.source.Text))
	}
	c := Citation{Source: l.source, Kind: MatchNoQuote, Quote: longestQuotation(claim.Text), Match: evidence.Match{Kind: evidence.None}}
	for _, n := range l.numbers.Missing(evidence.Numbers(claim.Text)) {
		c.Numbers = append(c.Numbers, n.Text)
	}
	if c.Quote != "" {
		c.Match = l.text.Locate(c.Quote)
		switch c.Match.Kind {
		case evidence.Exact:
			c.Kind = MatchExact
		case evidence.Near:
			c.Kind = MatchNear
			c.Altered = evidence.Altered(c.Quote, l.text, c.Match)
			for _, gap := range c.Match.Omitted {
				c.LeftOut += len(strings.Fields(l.source.Text[gap.Start:gap.End]))
			}
		default:
			c.Kind = MatchNotFound
		}
		if c.Match.Found() {
			c.Passage = l.text.Around(c.Match, passageContext)
			return c
		}
	}
	c.Passage = l.text.BestFor(claim.Text, passageContext)
	return c
}

func longestQuotation(claim string) (longest string) {
	for _, q := range evidence.Quotations(claim) {
		if len(q.Text) > len(longest) {
			longest = q.Text
		}
	}
	return longest
}

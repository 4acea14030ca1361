package rules

import (
	"fmt"
	"sort"

	"github.com/countersign/countersign/judge/evidence"
)

// What became of the quotations of a claim.
const (
	quoteNone    = iota // there are none
	quoteFound          // each is there
	quoteAltered        // one is there with a number, unit or negation changed
	quoteAbsent         // one is not there
)

// quotations looks for the quotations of claim i in source n. A quotation that
// stands in another source cited beside this one is not this one's to have.
func (x *examiner) quotations(i, n int) (found int, note string) {
	claim := x.claims[i]
	first := sort.Search(len(x.quotes), func(k int) bool { return x.quotes[k].End > claim.Start })
	for _, q := range x.quotes[first:] {
		if q.Start >= claim.End {
			break
		}
		text := evidence.TextWithout(x.trace.Output, q.Start, q.End, x.markers)
		match := x.prepared(n).Locate(text)
		switch {
		case match.Kind == evidence.Exact:
			found = max(found, quoteFound)
		case match.Kind == evidence.Near:
			if what := evidence.Altered(text, x.prepared(n), match); what != "" {
				return quoteAltered, fmt.Sprintf("The quotation “%s” differs from the source in %s; the source has “%s”.",
					shortened(text), what, shortened(x.prepared(n).Text()[match.Start:match.End]))
			}
			found = max(found, quoteFound)
			note = fmt.Sprintf("The quotation “%s” is in the source with %d of %d words different.", shortened(text), match.Distance, match.Words)
		case x.besides(i, text):
			note = fmt.Sprintf("The quotation “%s” is in a source cited beside this one.", shortened(text))
		default:
			detail := fmt.Sprintf("The quotation “%s” is not in the source.", shortened(text))
			if other := x.elsewhere(n, text); other != "" {
				detail += fmt.Sprintf(" It is in source %q.", other)
			}
			return quoteAbsent, detail
		}
	}
	return found, note
}

// besides tells whether a source of another marker of the same claim has the
// quotation.
func (x *examiner) besides(i int, quote string) bool {
	asked := map[int]bool{x.source(x.markers[i].CitationID): true, -1: true}
	has := func(k int) bool {
		n := x.source(x.markers[k].CitationID)
		if asked[n] {
			return false
		}
		asked[n] = true
		return x.prepared(n).LocateNear(quote).Found()
	}
	// Markers of one claim stand side by side.
	for k := i - 1; k >= 0 && x.claims[k] == x.claims[i]; k-- {
		if has(k) {
			return true
		}
	}
	for k := i + 1; k < len(x.claims) && x.claims[k] == x.claims[i]; k++ {
		if has(k) {
			return true
		}
	}
	return false
}

// elsewhere is the id of a source other than n that has the quotation exactly.
func (x *examiner) elsewhere(n int, quote string) string {
	for k := range x.trace.Sources {
		if k != n && x.prepared(k).LocateNear(quote).Kind == evidence.Exact {
			return x.trace.Sources[k].ID
		}
	}
	return ""
}

// shortened keeps explanations readable: the beginning of a long text.
func shortened(s string) string {
	const limit = 160
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

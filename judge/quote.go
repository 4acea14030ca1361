package judge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge/fold"
)

var quotedPattern = regexp.MustCompile(`"([^"]+)"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»`)

// quotedParts are the texts in double quotation marks.
func quotedParts(s string) []string {
	var parts []string
	for _, m := range quotedPattern.FindAllStringSubmatch(s, -1) {
		for _, part := range m[1:] {
			if strings.TrimSpace(part) != "" {
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// ellipsis is where a quotation leaves words out, in a folded text.
var ellipsis = regexp.MustCompile(`\[\.{2,}\]|\(\.{2,}\)|\.{3,}`)

// quotedIn reports whether one of the folded texts holds a quotation. White space,
// case, kinds of quotation mark and dash, ligatures and invisible characters do
// not count; around an ellipsis the pieces must stand in the text in their order.
func quotedIn(texts []string, quotation string) bool {
	var pieces []string
	for _, piece := range ellipsis.Split(fold.Quote(quotation), -1) {
		if piece = fold.Quote(piece); piece != "" {
			pieces = append(pieces, piece)
		}
	}
	if pieces == nil {
		return false
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		for _, piece := range pieces {
			i := strings.Index(text, piece)
			if i < 0 {
				return false
			}
			text = text[i+len(piece):]
		}
		return true
	})
}

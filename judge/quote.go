package judge

import (
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// foldMarks writes the forms of one mark as one: quotation marks and dashes.
var foldMarks = strings.NewReplacer(
	"“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, "‘", "'", "’", "'",
	"–", "-", "—", "-", "‑", "-", "−", "-",
)

// foldQuote writes a text so that two copies of it compare equal whatever their
// white space, case, quotation marks and dashes.
func foldQuote(s string) string {
	s = foldMarks.Replace(norm.NFKC.String(s))
	return strings.Join(strings.FieldsFunc(strings.ToLower(s), unicode.IsSpace), " ")
}

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

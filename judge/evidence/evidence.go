// Package evidence finds what can be found in texts: the steps of an output,
// its citation markers, the claims they support, quotations, numbers and
// negations, and the passage of a source that a quotation or a claim comes
// from, with exact byte ranges so that a page can mark them.
//
// All functions are pure and bounded: they read no file, call no model and
// never judge. What words mean is not their business; a passage that shares
// words with a claim is only a passage that shares words with it.
package evidence

// Span is a half-open range of bytes [Start, End) of a text. Both ends lie on
// rune boundaries.
type Span struct{ Start, End int }

// Of is the text of the span. It panics when the span is not inside text, as
// a slice expression does.
func (s Span) Of(text string) string { return text[s.Start:s.End] }

// Len is the length of the span in bytes.
func (s Span) Len() int { return s.End - s.Start }

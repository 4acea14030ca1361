// Package evidence finds what can be found in texts: the steps of an output,
// its citation markers, the claims they support, quotations, numbers and
// negations, and the passage of a source that a quotation or a claim comes
// from, with exact byte ranges so that a page can mark them.
//
// All functions are pure and bounded: they read no file, call no model and
// never judge. What words mean is not their business; a passage that shares
// words with a claim is only a passage that shares words with it.
package evidence

import "github.com/countersign/countersign/judge/fold"

// Span is a half-open range of bytes [Start, End) of a text. Both ends lie on
// rune boundaries.
type Span = fold.Span

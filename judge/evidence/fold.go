package evidence

import "github.com/countersign/countersign/judge/fold"

// Folded is a text with the differences taken out that do not change its words.
type Folded = fold.Folded

// Fold folds a text (see fold.Text).
func Fold(text string) Folded { return fold.Text(text) }

func foldedTrim(s string) string { return fold.Quote(s) }

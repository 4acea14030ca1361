package rules

import "github.com/countersign/countersign/judge"

// LineUp says which steps of an output (from 1, in order) stand at each step of
// its reference, by the same comparison of texts that the engine makes: the same
// words, the same calculations, or most words in common nearby. It says nothing
// about whether they hold. Nil when the reference has no steps, or one of the
// texts has more than 10,000.
func LineUp(t *judge.Trace) [][]int {
	a, refused := align(t)
	if refused != "" {
		return nil
	}
	pairs := make([][]int, len(a.pairs))
	for i, p := range a.pairs {
		for _, c := range p.candidate {
			pairs[i] = append(pairs[i], c+1)
		}
	}
	return pairs
}

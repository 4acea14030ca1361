package store

// fewestTold is how many evaluations a sum must have to be told to who may
// decide: cost, repairs and failures of a single one are sealed.
const fewestTold = 10

// tooFew says which parts of a sum are kept from who may decide: those of fewer
// than ten evaluations, and so many more, the smallest first, that what is kept
// back can't be told from the difference to the sum either.
func tooFew(a Actor, parts []int64) []bool {
	hidden := make([]bool, len(parts))
	if !a.MayDecide() {
		return hidden
	}
	kept := int64(0)
	for i, n := range parts {
		if n < fewestTold {
			hidden[i], kept = true, kept+n
		}
	}
	for kept > 0 && kept < fewestTold {
		least := -1
		for i, n := range parts {
			if !hidden[i] && (least < 0 || n < parts[least]) {
				least = i
			}
		}
		if least < 0 {
			break
		}
		hidden[least], kept = true, kept+parts[least]
	}
	return hidden
}

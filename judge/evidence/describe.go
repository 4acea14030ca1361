package evidence

// describe fills a match from an alignment.
func (s *Source) describe(m *Match, a alignment) {
	k := 0
	last := -1 // the source's word that was matched last
	gapMissing, marked := 0, false
	for _, piece := range a.pieces {
		if piece.marked {
			marked = true
		}
		for _, w := range piece.words {
			j := int(a.pairs[k])
			k++
			if j < 0 {
				m.Missing = append(m.Missing, a.quote[w.start:w.end])
				gapMissing++
				continue
			}
			switch {
			case last < 0:
				m.Distance += gapMissing
			default:
				left := j - last - 1
				if left > 0 {
					m.Omitted = append(m.Omitted, s.span(last+1, j-1))
				}
				if marked {
					m.Distance += gapMissing
				} else {
					m.Distance += max(left, gapMissing)
				}
			}
			if last >= 0 && j == last+1 && gapMissing == 0 {
				m.Spans[len(m.Spans)-1].End = s.span(j, j).End
			} else {
				m.Spans = append(m.Spans, s.span(j, j))
			}
			last, gapMissing, marked = j, 0, false
		}
	}
	m.Distance += gapMissing
	if n := len(m.Spans); n > 0 {
		m.Start, m.End = m.Spans[0].Start, m.Spans[n-1].End
	}
}

// near tells whether what was aligned is the quotation with slips: at most a
// quarter of its words changed, missing or put in. Words of the source left
// out between two runs of at least three words are no slip, up to two times
// and up to as many words as the quotation has (or twelve). What an ellipsis
// marks is free, between runs of at least two words.
func (a alignment) near(total int) bool {
	type hole struct {
		left   int
		marked bool
	}
	var holes []hole
	var runs []int // runs[i] stands before holes[i]
	run, k, missing, since := 0, 0, 0, 0
	last := int32(-1)
	for _, piece := range a.pieces {
		marked := piece.marked
		for range piece.words {
			j := a.pairs[k]
			k++
			if j < 0 {
				missing++
				since++
				continue
			}
			if left := int(j-last-1) - since; last >= 0 && (left > 0 || marked) {
				holes = append(holes, hole{left, marked})
				runs = append(runs, run)
				run = 0
			}
			run++
			last, since, marked = j, 0, false
		}
	}
	runs = append(runs, run)
	jumps, out := 0, 0
	for i, h := range holes {
		shorter := min(runs[i], runs[i+1])
		switch {
		case h.marked && shorter < 2:
			return false
		case h.marked:
		case shorter >= 3:
			jumps++
			out += h.left
		default:
			missing += h.left
		}
	}
	if jumps > 2 {
		missing += out
	}
	return missing <= total/4 && out <= max(12, total)
}

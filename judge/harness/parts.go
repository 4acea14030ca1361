package harness

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
)

// mostNamed is how many parts or steps a reason names; who looks at one of them
// sees the others.
const mostNamed = 20

// lowParts names the parts of a result that lie under a line; empty: none does.
func lowParts(r *judge.Reading, line judge.Line) string {
	if r.Parts == nil {
		if !line.Below(r.Score) {
			return ""
		}
		return fmt.Sprintf("score %.2f is %s", r.Score, under(line, 0))
	}
	var low []string
	count, scale := 0, 0.0
	for _, p := range r.Parts {
		if !line.Below(p.Share()) {
			continue
		}
		if count++; count <= mostNamed {
			low = append(low, fmt.Sprintf("%s has %s", p.Name, number(p.Value)))
		}
		scale = p.Max
	}
	if count == 0 {
		return ""
	}
	if count > mostNamed {
		low = append(low, fmt.Sprintf("and %d more", count-mostNamed))
	}
	return fmt.Sprintf("%s (%s)", strings.Join(low, ", "), under(line, scale))
}

// under is a line in words, on the scale of the parts that lie under it.
func under(line judge.Line, scale float64) string {
	at := line.At
	if scale != 0 {
		at *= scale
	}
	if line.Inclusive {
		return number(at) + " or less"
	}
	return "below " + number(at)
}

// number is a value with as many decimals as people want to read.
func number(v float64) string {
	if text := strconv.FormatFloat(v, 'f', -1, 64); len(text) <= 3 {
		return text
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func stepNumbers(steps []int) string {
	list := make([]string, 0, mostNamed)
	for _, n := range steps[:min(len(steps), mostNamed)] {
		list = append(list, strconv.Itoa(n))
	}
	text := "step " + list[0]
	if len(list) > 1 {
		text = "steps " + strings.Join(list, ", ")
	}
	if more := len(steps) - len(list); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

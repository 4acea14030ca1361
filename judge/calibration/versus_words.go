package calibration

import (
	"fmt"
	"strings"
)

// sentence says in counts what the comparison comes to.
func (v Versus) sentence() string {
	first, second := v.name(0), v.name(1)
	d := v.Duel
	if v.N == 0 {
		return "No trace that people labelled was judged by both, so nothing says which of the two is better."
	}
	s := fmt.Sprintf("On the same %s %s is right %s where %s is wrong, and wrong %s where %s is right: ",
		count(v.N, "labelled trace", "labelled traces"), second, times(d.OnlySecond), first, times(d.OnlyFirst), first)
	if d.OnlyFirst+d.OnlySecond == 0 {
		return s + "people’s labels do not tell the two apart."
	}
	return s + d.verdict(first, second, v.ConfLevel)
}

// verdict is what the interval and the test say together. They are made in different
// ways and may differ at the border; then nothing is claimed.
func (d Duel) verdict(first, second string, level float64) string {
	chance := d.P != nil && *d.P > 1-Level
	better, worse := second, first
	if d.OnlyFirst > d.OnlySecond {
		better, worse = first, second
	}
	switch e := d.Difference; {
	case d.OnlyFirst == d.OnlySecond:
		return "no difference is shown."
	case chance || !e.HasInterval() || e.Low <= 0 && e.High >= 0:
		return "that much can be chance, so no difference is shown."
	}
	return better + " is better than " + worse + " by more than chance explains."
}

func times(n int) string { return count(n, "time", "times") }

// name is as little of a competitor as tells it from the others.
func (v Versus) name(i int) string {
	c := v.Competitors[i]
	versions, models := map[string]bool{}, map[string]bool{}
	for _, o := range v.Competitors {
		versions[o.PromptVersion], models[o.Model] = true, true
	}
	var parts []string
	if len(versions) > 1 || len(models) == 1 {
		parts = append(parts, "version "+c.PromptVersion[:min(8, len(c.PromptVersion))])
	}
	if len(models) > 1 {
		parts = append(parts, c.Model)
	}
	return strings.Join(parts, " by ")
}

// Name is the competitor as the sentence calls it.
func (v Versus) Name(i int) string { return v.name(i) }

package judge

import "fmt"

// Verdict is what every judge says in the end, whatever its own labels are.
// The zero value means that there is none (yet).
type Verdict string

const (
	Pass       Verdict = "pass"
	Borderline Verdict = "borderline"
	Fail       Verdict = "fail"
)

// ParseVerdict reads a verdict as trace files, forms and the API write it.
func ParseVerdict(s string) (Verdict, error) {
	switch v := Verdict(s); v {
	case Pass, Borderline, Fail:
		return v, nil
	}
	return "", fmt.Errorf("verdict %q is not one of pass, borderline, fail", s)
}

// Stakes says how much hangs on a trace. High stakes turn on more reasons.
type Stakes string

const (
	HighStakes     Stakes = "high"
	StandardStakes Stakes = "standard"
)

// DefaultStakes is high for the domains where an error harms somebody.
func DefaultStakes(domain string) Stakes {
	switch domain {
	case "legal", "medical", "finance", "safety":
		return HighStakes
	}
	return StandardStakes
}

// Band is where a score is neither good nor bad: fail below Low, borderline in
// [Low, Pass), pass from Pass on. Both are in [0,1].
type Band struct {
	Low  float64 `json:"low"`
	Pass float64 `json:"pass"`
}

// DefaultBand is the band of judges.md; policy may set another.
var DefaultBand = Band{Low: 0.60, Pass: 0.80}

// epsilon is the slack of every comparison of a computed score with a bound.
const epsilon = 1e-9

// Verdict of a score in [0,1]. Critical fails whatever the score; undecided
// means that the engine could not decide, which is borderline unless critical.
func (b Band) Verdict(score float64, critical, undecided bool) Verdict {
	switch {
	case critical:
		return Fail
	case undecided:
		return Borderline
	case score < b.Low-epsilon:
		return Fail
	case score < b.Pass-epsilon:
		return Borderline
	}
	return Pass
}

package agreement

import (
	"encoding/json"
	"fmt"
	"math"
)

// Names of the ways an interval is made, as they stand in JSON.
const (
	MethodWilson  = "wilson"
	MethodFisherZ = "fisher_z"
	MethodStudent = "student_t"
	MethodAtOne   = "clopper_pearson_agreement"
)

// Reasons that several figures share.
const (
	noPairs        = "no item was labelled by both"
	oneLabelInUse  = "both raters used one and the same label, so chance alone would agree as often"
	noOtherLabel   = "the scale has fewer than two labels"
	noSpreadAtAll  = "the standard error is 0, so it gives no interval"
	constantNoTest = "a rater used one label only, so there is no test and no interval"
)

// Estimate is a figure with its uncertainty, or the reason why there is none.
// Look at Undefined before Value and at NoInterval before SE, Low and High: the
// numbers they cover are 0 then and mean nothing.
type Estimate struct {
	Value float64
	// SE is the large-sample standard error. Low and High bound the interval
	// at the level that was asked for, made by Method.
	SE, Low, High float64
	Method        string
	// N is the number of items behind the figure.
	N int
	// Undefined says why there is no value; empty: there is one.
	Undefined string
	// NoInterval says why a defined value has no standard error and interval.
	NoInterval string
}

// Defined reports whether Value may be shown.
func (e Estimate) Defined() bool { return e.Undefined == "" }

// HasInterval reports whether Low and High may be shown.
func (e Estimate) HasInterval() bool { return e.Undefined == "" && e.NoInterval == "" }

// notFinite is why a figure that cannot be computed in floating point is not defined.
const notFinite = "the numbers differ too little or too much to compute it"

// Finite is the estimate, undefined with the reason where its value is no finite
// number, and without interval where that of the others is none. Whatever is shown,
// written or decided by goes through it.
func (e Estimate) Finite() Estimate {
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	switch {
	case !e.Defined():
		return Estimate{N: e.N, Undefined: e.Undefined}
	case bad(e.Value):
		return Estimate{N: e.N, Undefined: notFinite}
	case bad(e.SE) || bad(e.Low) || bad(e.High):
		e.SE = 0
		if e.NoInterval == "" {
			return e.withoutInterval(notFinite)
		}
		return e.withoutInterval(e.NoInterval)
	}
	return e
}

func undefined(n int, reason string) Estimate { return Estimate{N: n, Undefined: reason} }

// Wald is the interval value ± z SE, not clipped. ok is false when the estimate
// or its interval is undefined, SE is 0 or level is not in (0,1).
func (e Estimate) Wald(level float64) (low, high float64, ok bool) {
	if !e.HasInterval() || e.SE == 0 || checkLevel(level) != "" {
		return 0, 0, false
	}
	d := zQuantile(level) * e.SE
	return e.Value - d, e.Value + d, true
}

// Student is the interval value ± t(n-1) SE clipped to [-1,1], the convention
// of Gwet (2014) and irrCAC. ok is as for Wald, and false for n < 2 and for a value
// below -1, which single labels can cause and a clipped interval cannot hold.
func (e Estimate) Student(level float64) (low, high float64, ok bool) {
	if !e.HasInterval() || e.SE == 0 || e.N < 2 || e.Value < -1 || checkLevel(level) != "" {
		return 0, 0, false
	}
	d := tQuantile(level, float64(e.N-1)) * e.SE
	return max(-1, e.Value-d), min(1, e.Value+d), true
}

// withFisherZ sets the interval tanh(atanh(v) ± z SE/(1-v²)).
func (e Estimate) withFisherZ(level float64) Estimate {
	switch bad := checkLevel(level); {
	case bad != "":
		return e.withoutInterval(bad)
	case e.SE == 0 || math.Abs(e.Value) >= 1:
		return e.withoutInterval(noSpreadAtAll)
	}
	c, d := math.Atanh(e.Value), zQuantile(level)*e.SE/(1-e.Value*e.Value)
	e.Low, e.High, e.Method = math.Tanh(c-d), math.Tanh(c+d), MethodFisherZ
	return e
}

// withStudent sets the t(n-1) interval.
func (e Estimate) withStudent(level float64) Estimate {
	switch bad := checkLevel(level); {
	case bad != "":
		return e.withoutInterval(bad)
	case e.N < 2:
		return e.withoutInterval("one item gives no interval")
	case e.SE == 0:
		return e.withoutInterval(noSpreadAtAll)
	case e.Value < -1:
		return e.withoutInterval("the value is below -1, which items with a single label can cause, and no interval within -1 and 1 holds it")
	}
	e.Low, e.High, _ = e.Student(level)
	e.Method = MethodStudent
	return e
}

// atOne is the state of perfect agreement: every coefficient is 1 with SE 0,
// and [1,1] would claim certainty. The lower bound is that of agreement itself.
func (e Estimate) atOne(level float64) Estimate {
	ci, err := ClopperPearson(e.N, e.N, level)
	if err != nil {
		return e.withoutInterval(err.Error())
	}
	e.Value, e.SE, e.Low, e.High, e.Method = 1, 0, ci.Low, 1, MethodAtOne
	return e
}

func (e Estimate) withoutInterval(reason string) Estimate {
	e.Low, e.High, e.Method, e.NoInterval = 0, 0, "", reason
	return e
}

func checkLevel(level float64) string {
	if level > 0 && level < 1 {
		return ""
	}
	return fmt.Sprintf("confidence level %v is not between 0 and 1", level)
}

// Figure is an estimate as it is written: nil stands for what is undefined.
type Figure struct {
	Value      *float64 `json:"value"`
	SE         *float64 `json:"se"`
	Low        *float64 `json:"ci_low"`
	High       *float64 `json:"ci_high"`
	Method     *string  `json:"ci_method"`
	N          int      `json:"n"`
	Undefined  string   `json:"undefined,omitempty"`
	NoInterval string   `json:"no_interval,omitempty"`
}

// Figure is the written form of the estimate, to stand among a type's other fields.
func (e Estimate) Figure() Figure {
	e = e.Finite()
	out := Figure{N: e.N, Undefined: e.Undefined, NoInterval: e.NoInterval}
	if !e.Defined() {
		return out
	}
	out.Value = &e.Value
	if e.HasInterval() {
		out.SE, out.Low, out.High, out.Method = &e.SE, &e.Low, &e.High, &e.Method
	}
	return out
}

// MarshalJSON writes value, se, ci_low, ci_high, ci_method and n; what is
// undefined is null, and undefined or no_interval gives the reason.
func (e Estimate) MarshalJSON() ([]byte, error) { return json.Marshal(e.Figure()) }

// UnmarshalJSON reads what MarshalJSON wrote, for figures that are kept as they were
// shown.
func (e *Estimate) UnmarshalJSON(data []byte) error {
	var f Figure
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	value := func(p *float64) float64 {
		if p == nil {
			return 0
		}
		return *p
	}
	*e = Estimate{Value: value(f.Value), SE: value(f.SE), Low: value(f.Low), High: value(f.High), N: f.N, Undefined: f.Undefined, NoInterval: f.NoInterval}
	if f.Method != nil {
		e.Method = *f.Method
	}
	return nil
}

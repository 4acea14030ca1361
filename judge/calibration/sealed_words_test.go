package calibration_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// Where all labels are left out for the reader, nothing is said of what people or the
// judge called them: it is said that they wait, and what to do.
func TestAllLabelsSealed(t *testing.T) {
	r, err := calibration.Compose(calibration.Counts{Judge: "tone", Sealed: 288, Judged: []calibration.JudgedCount{{Verdict: judge.Pass, N: 40}}})
	if err != nil {
		t.Fatal(err)
	}
	m := r.Classifier
	for name, why := range map[string]string{"specificity": m.Specificity.Undefined, "NPV": m.NPV.Undefined, "sensitivity": m.Sensitivity.Undefined, "PPV": m.PPV.Undefined} {
		if why != "there are no items" {
			t.Errorf("%s is not known because %q", name, why)
		}
	}
	if why := r.Population.Refused; !strings.HasPrefix(why, "288 labelled items that wait for a blind review") || !strings.Contains(why, "ask an auditor") {
		t.Errorf("all work: %q", why)
	}
}

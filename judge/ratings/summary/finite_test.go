package summary_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/ratings"
	"github.com/countersign/countersign/judge/ratings/summary"
)

// TestBeyondArithmetic: scores whose squares overflow or vanish have no alpha and say so,
// never NaN and never that they are the same.
func TestBeyondArithmetic(t *testing.T) {
	for name, body := range map[string]string{
		"huge": `{"ratings": [[1e308,-1e308],[-1e308,1e308],[1e308,1e308],[5e307,1]]}`,
		"tiny": `{"ratings": [[1e-200,2e-200],[3e-200,1e-200],[5e-200,5e-200]]}`,
		"less": `{"ratings": [[1e-320,2e-320],[3e-320,1e-320],[1e-320,4e-320]]}`,
	} {
		f := figures(t, read(t, body), summary.Options{Level: agreement.MetricInterval})
		for _, s := range []string{"krippendorff_alpha", "icc2_1", "lin_ccc", "rmse"} {
			if f[s].Value != nil || !strings.Contains(*f[s].Undefined, "too little or too much") {
				t.Errorf("%s: %s is %+v", name, s, f[s])
			}
		}
		if f["cohen_kappa"].Value == nil || f["spearman"].Value == nil {
			t.Errorf("%s: what needs no squares is gone", name)
		}
	}
	f := figures(t, read(t, `{"ratings": [[7,7],[7,7]]}`), summary.Options{Level: agreement.MetricInterval})
	if a := f["krippendorff_alpha"]; a.Undefined == nil || !strings.Contains(*a.Undefined, "all labels are the same") {
		t.Errorf("one score throughout: %+v", a)
	}
}

// FuzzFinite: no file gives a number that is none, at any level.
func FuzzFinite(f *testing.F) {
	for _, seed := range []string{"1e308,-1e308\n-1e308,1e308\n5e307,1", "1e-200,2e-200\n3e-200,1e-200", "1e-320,0\n0,2e-320", "1,2\n2,2\n3,1", "1e154,1e+154\n1,-1e154", "1e154,1e-154\n1,-1e154",
		"0,0\n0,1", "1e160,1e160\n1e160,2e160", "1e77,1e-77\n-1e77,3\n4,5", "a,b\nb,a", "1e139,-1e139\n3e139,1", "1e-139,3e-139\n2e-139,1e-139"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		var b strings.Builder
		b.WriteString("item,a,b\n")
		for i, line := range strings.Split(body, "\n") {
			b.WriteString(string(rune('A'+i%26)) + strings.Repeat("x", i/26) + "," + line + "\n")
		}
		table, err := ratings.Read(strings.NewReader(b.String()), "f")
		if err != nil || table.Items() > 50 {
			return
		}
		for _, level := range []agreement.Metric{agreement.MetricNominal, agreement.MetricOrdinal, agreement.MetricInterval, agreement.MetricRatio} {
			s, err := summary.Of(table, summary.Options{Level: level, Confidence: 0.95, Replicates: 20})
			if err != nil {
				continue
			}
			for _, x := range s.Statistics {
				for _, v := range []float64{x.Value, x.SE, x.Low, x.High} {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("level %s: %s is %+v", level, x.Name, x.Estimate)
					}
				}
			}
			if _, err := json.Marshal(s); err != nil {
				t.Errorf("level %s: %v", level, err)
			}
		}
	})
}

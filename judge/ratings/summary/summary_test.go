package summary_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/ratings"
	"github.com/countersign/countersign/judge/ratings/summary"
)

func read(t testing.TB, body string) ratings.Table {
	t.Helper()
	table, err := ratings.Read(strings.NewReader(body), "f")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

type figure struct {
	Value, SE  *float64
	Low        *float64 `json:"ci_low"`
	High       *float64 `json:"ci_high"`
	N          int
	Undefined  *string `json:"reason_undefined"`
	NoInterval *string `json:"reason_no_interval"`
}

func figures(t testing.TB, table ratings.Table, o summary.Options) map[string]figure {
	t.Helper()
	o.Confidence, o.Seed = 0.95, 1
	if o.Replicates == 0 {
		o.Replicates = 200
	}
	s, err := summary.Of(table, o)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ Statistics map[string]figure }
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatal(err)
	}
	return out.Statistics
}

// A matrix and the ratings it counts are one and the same data.
func TestMatrixIsItsRatings(t *testing.T) {
	counts := [][]int{{7, 2, 0}, {1, 9, 3}, {0, 2, 6}}
	var rows []string
	for i, row := range counts {
		for j, n := range row {
			for range n {
				rows = append(rows, fmt.Sprintf("[%d,%d]", i+1, j+1))
			}
		}
	}
	for _, level := range []string{"nominal", "ordinal", "interval", "ratio"} {
		o := summary.Options{Level: agreement.Metric(level)}
		a := figures(t, read(t, `{"confusion_matrix":[[7,2,0],[1,9,3],[0,2,6]]}`), o)
		b := figures(t, read(t, `{"ratings":[`+strings.Join(rows, ",")+`]}`), o)
		if len(a) != len(b) {
			t.Errorf("%s: %d figures of the matrix, %d of the ratings", level, len(a), len(b))
		}
		for name, x := range a {
			y := b[name]
			if (x.Value == nil) != (y.Value == nil) || x.Value != nil && math.Abs(*x.Value-*y.Value) > 1e-12 {
				t.Errorf("%s: %s is %v of the matrix and %v of the ratings", level, name, show(x.Value), show(y.Value))
			}
		}
	}
}

func show(p *float64) any {
	if p == nil {
		return nil
	}
	return *p
}

// Whatever the file, every figure is a number or null with a reason, and no interval
// is upside down.
func TestNothingIsMadeUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	for i := range 150 {
		raters, items, labels := 1+r.IntN(5), 1+r.IntN(12), 1+r.IntN(4)
		gaps := []float64{0, 0.3, 0.9}[r.IntN(3)]
		var rows []string
		for range items {
			var cells []string
			for range raters {
				if r.Float64() < gaps {
					cells = append(cells, "null")
				} else {
					cells = append(cells, fmt.Sprint(r.IntN(labels)))
				}
			}
			rows = append(rows, "["+strings.Join(cells, ",")+"]")
		}
		body := `{"ratings":[` + strings.Join(rows, ",") + `]}`
		for _, level := range []string{"nominal", "ordinal", "interval", "ratio"} {
			for name, f := range figures(t, read(t, body), summary.Options{Level: agreement.Metric(level), Replicates: 40}) {
				switch {
				case f.Value == nil && (f.Undefined == nil || *f.Undefined == ""):
					t.Errorf("%d, %s: %s is null without a reason in %s", i, level, name, body)
				case f.Value == nil && (f.SE != nil || f.Low != nil || f.High != nil):
					t.Errorf("%d, %s: %s is undefined and has an interval in %s", i, level, name, body)
				case f.Value != nil && f.Low == nil && (f.NoInterval == nil || *f.NoInterval == ""):
					t.Errorf("%d, %s: %s has no interval and no reason in %s", i, level, name, body)
				case f.Low != nil && !(*f.Low <= *f.High):
					t.Errorf("%d, %s: %s is between %v and %v in %s", i, level, name, *f.Low, *f.High, body)
				}
			}
		}
	}
}

func TestLabelsWithoutOrder(t *testing.T) {
	table := read(t, "a,b\nred,red\nblue,red\ngreen,blue\n")
	f := figures(t, table, summary.Options{})
	if q := f["cohen_kappa_quadratic"]; q.Value != nil || !strings.Contains(*q.Undefined, "no order") {
		t.Errorf("quadratic kappa of colours: %+v", q)
	}
	for _, o := range []summary.Options{
		{Level: "ordinal", Confidence: 0.95}, {Level: "interval", Confidence: 0.95}, {Weights: "linear", Confidence: 0.95},
		{Level: "cardinal", Confidence: 0.95}, {Weights: "cubic", Confidence: 0.95}, {Confidence: 1},
	} {
		if s, err := summary.Of(table, o); err == nil {
			t.Errorf("%+v: accepted, %d figures", o, len(s.Statistics))
		}
	}
	declared := read(t, `{"categories":["green","blue","red"],"ratings":[["red","red"],["blue","red"],["green","blue"]]}`)
	if q := figures(t, declared, summary.Options{})["cohen_kappa_quadratic"]; q.Value == nil {
		t.Errorf("quadratic kappa of a declared scale: %s", *q.Undefined)
	}
}

// More labels than categories can have: scores are still compared.
func TestMeasurements(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("a,b\n")
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		x := r.Float64()
		fmt.Fprintf(&b, "%.5f,%.5f\n", x, x+0.05*r.Float64())
	}
	table := read(t, b.String())
	f := figures(t, table, summary.Options{Level: "interval"})
	if a := f["krippendorff_alpha"]; a.Value == nil || *a.Value < 0.98 || a.Low == nil || *a.Low > *a.Value {
		t.Errorf("alpha %+v", a)
	}
	if k := f["cohen_kappa"]; k.Value != nil || !strings.Contains(*k.Undefined, "too many for categories") {
		t.Errorf("kappa %+v", k)
	}
	if d := f["mean_difference"]; d.Value == nil || math.Abs(*d.Value+0.025) > 0.005 {
		t.Errorf("mean difference %+v", d)
	}
}

// Items of one conversation fare alike: with clusters named the values stay and the
// intervals widen, or are withheld where they cannot follow.
func TestClustersWiden(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	var plain, clustered [3]strings.Builder
	head := []string{"a,b", "a,b,c", "a,b"}
	for i := range head {
		fmt.Fprintln(&plain[i], head[i])
		fmt.Fprintln(&clustered[i], "cluster,"+head[i])
	}
	for c := range 40 {
		right := r.Float64() < 0.8
		for range 10 {
			x := r.IntN(2)
			y := x
			if !right {
				y = 1 - x
			}
			for i, row := range []string{fmt.Sprintf("%d,%d", x, y), fmt.Sprintf("%d,%d,%d", x, y, r.IntN(2)), fmt.Sprintf("%.4f,%.4f", r.Float64(), 0.5)} {
				fmt.Fprintln(&plain[i], row)
				fmt.Fprintf(&clustered[i], "c%d,%s\n", c, row)
			}
		}
	}
	for i, level := range []agreement.Metric{"interval", "ordinal", "interval"} {
		o := summary.Options{Level: level, Replicates: 400}
		alone, together := figures(t, read(t, plain[i].String()), o), figures(t, read(t, clustered[i].String()), o)
		for name, a := range alone {
			b := together[name]
			switch {
			case (a.Value == nil) != (b.Value == nil) || a.Value != nil && math.Abs(*a.Value-*b.Value) > 1e-12:
				t.Errorf("file %d: %s is %v without clusters and %v with them", i, name, show(a.Value), show(b.Value))
			case a.Low != nil && b.Low == nil && !strings.Contains(*b.NoInterval, "clusters"):
				t.Errorf("file %d: %s has no interval: %s", i, name, *b.NoInterval)
			case i == 0 && b.Low != nil && *b.High-*b.Low < 1.5*(*a.High-*a.Low):
				t.Errorf("%s is within %v to %v without clusters and %v to %v with them", name, *a.Low, *a.High, *b.Low, *b.High)
			}
		}
		if together["krippendorff_alpha"].Low == nil {
			t.Errorf("file %d: alpha has no interval", i)
		}
	}
}

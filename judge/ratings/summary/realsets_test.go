package summary_test

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge/ratings"
	"github.com/countersign/countersign/judge/ratings/summary"
)

// abstention is no label: who says it has not decided.
const abstention = "undetermined"

// realSet reads the columns of some raters of a public set, the rows that some of
// them abstain on left out, through the reader of ratings files.
func realSet(t *testing.T, set string, raters ...string) ratings.Table {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", "realsets", set+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(string(body))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var at []int
	for _, name := range append([]string{"item", "cluster"}, raters...) {
		i := slices.Index(rows[0], name)
		if i < 0 && name != "cluster" {
			t.Fatalf("%s has no column %q", set, name)
		}
		if i >= 0 {
			at = append(at, i)
		}
	}
	var picked strings.Builder
	w := csv.NewWriter(&picked)
	for _, row := range rows {
		var cut []string
		for _, i := range at {
			cut = append(cut, row[i])
		}
		if !slices.Contains(cut, abstention) {
			_ = w.Write(cut) // to memory
		}
	}
	w.Flush()
	table, err := ratings.Read(strings.NewReader(picked.String()), set)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestRealSets holds the figures that the sets' datasheets give, to their four digits,
// and that an interval lies round each of two raters. Where a set has clusters they are resampled whole.
func TestRealSets(t *testing.T) {
	judged := func(model string, n int, agreement, kappa float64) realFigures {
		return realFigures{"openqa_eval", []string{"panel", model}, n, "percent_agreement", agreement, "cohen_kappa", kappa}
	}
	physicians := func(a, b string, agreement, kappa float64) realFigures {
		return realFigures{"kqa_physician_nli", []string{a, b}, 264, "percent_agreement", agreement, "cohen_kappa", kappa}
	}
	for _, want := range []realFigures{
		judged("gpt-4", 989, 0.8463, 0.6908),
		judged("text-davinci-003", 991, 0.8244, 0.6475),
		judged("bem", 991, 0.7952, 0.5959),
		{"openqa_eval", []string{"annotator1", "annotator2"}, 987, "percent_agreement", 0.8622, "cohen_kappa", 0.7208},
		{"mr_gsm8k_grading", []string{"expert", "gpt-4-turbo-1106"}, 332, "percent_agreement", 0.7741, "cohen_kappa", 0.5482},
		{"kqa_physician_nli", []string{"physician1", "physician2", "physician3"}, 264, "percent_agreement", 0.8687, "fleiss_kappa", 0.7425},
		physicians("physician1", "physician2", 0.8409, 0.6938),
		physicians("physician1", "physician3", 0.8902, 0.7794),
		physicians("physician2", "physician3", 0.8750, 0.7579),
		{"pubmedqa_test", []string{"reasoning_required", "reasoning_free"}, 333, "percent_agreement", 0.7057, "cohen_kappa", 0.4598},
	} {
		t.Run(want.set+" "+strings.Join(want.raters, " "), func(t *testing.T) {
			table := realSet(t, want.set, want.raters...)
			got, err := summary.Of(table, summary.Options{Confidence: 0.95, Seed: 1, Replicates: 200})
			if err != nil {
				t.Fatal(err)
			}
			shared := 0
			for _, name := range []string{want.first, want.second} {
				at := slices.IndexFunc(got.Statistics, func(s summary.Statistic) bool { return s.Name == name })
				if at < 0 {
					t.Fatalf("no %s", name)
				}
				s := got.Statistics[at]
				figure := want.agreement
				if name == want.second {
					figure = want.kappa
				}
				if !s.Defined() || math.Abs(s.Value-figure) > 5e-5 {
					t.Errorf("%s = %.5f (%s), want %.4f", name, s.Value, s.Undefined, figure)
				}
				// Of three raters and clusters only alpha has an interval, and the others say so.
				if several := len(want.raters) > 2; several == s.HasInterval() || several && s.NoInterval == "" {
					t.Errorf("%s: interval %v, reason %q", name, s.HasInterval(), s.NoInterval)
				}
				if s.HasInterval() && !(s.Low < s.Value && s.Value < s.High) {
					t.Errorf("%s: interval %v to %v round %v", name, s.Low, s.High, s.Value)
				}
				shared = s.N
			}
			if shared != want.n {
				t.Errorf("n = %d, want %d", shared, want.n)
			}
			if clustered := want.set != "pubmedqa_test"; clustered != (got.Clusters > 0) {
				t.Errorf("%d clusters", got.Clusters)
			}
		})
	}
}

// realFigures are two statistics of some raters of a set.
type realFigures struct {
	set       string
	raters    []string
	n         int
	first     string // of the statistics
	agreement float64
	second    string
	kappa     float64
}

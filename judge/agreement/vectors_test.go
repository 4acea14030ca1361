package agreement_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

// vector is one reference value with its source. Names of expected and precise
// map to a number, null (undefined) or lists of them.
type vector struct {
	ID        string
	Statistic string
	Options   struct {
		Weights       string
		Disagreement  [][]float64 `json:"disagreement_weight_matrix"`
		Level         string
		ConfLevel     *float64 `json:"conf_level"`
		Categories    []any
		CategoryIndex int `json:"category_index"`
		Convention    string
		// Options of single families.
		Alpha        *float64
		Clip         float64
		Bins         int
		Strategy     string
		DDOF         int             `json:"variance_ddof"`
		Lambda       json.RawMessage `json:"lambda_"`
		LambdaFrom   string          `json:"lambda_formula"`
		Mu0          float64         `json:"mu0"`
		Sigma        float64
		Width        float64 `json:"L"`
		Limits       string
		Delta        float64
		Threshold    float64
		Direction    string
		K, H         float64
		Epsilon      float64
		Q            float64 `json:"q_fdr"`
		Score        string
		MinHumans    int `json:"min_humans_per_instance"`
		MinInstances int `json:"min_instances_per_human"`
	}
	Input            input
	Expected         map[string]any
	Tolerance        map[string]float64
	Precise          map[string]any
	PreciseTolerance float64 `json:"precise_tolerance"`
}

// input is what describes raters; body is all of it, for what describes more.
type input struct {
	body json.RawMessage
	raters
}

type raters struct {
	Type       string
	Matrix     [][]int
	Categories []any
	X, Y       json.RawMessage
	Ratings    [][]any `json:"units_by_raters"`
	Counts     [][]int `json:"units_by_categories"`
	B, C       int
	N          int `json:"n"`
}

func (in *input) UnmarshalJSON(body []byte) error {
	in.body = append(json.RawMessage(nil), body...)
	return json.Unmarshal(body, &in.raters)
}

// read decodes the whole input into a struct of the statistic's own.
func (v vector) read(into any) error { return json.Unmarshal(v.Input.body, into) }

// TestVectors compares every named value of the reference vectors. The files
// are testdata/*.json, or those that AGREEMENT_VECTORS names (separated by
// colons); there a statistic that is not implemented is skipped by name.
func TestVectors(t *testing.T) {
	files, foreign := vectorFiles(t)
	known := allStatistics(t)
	var passed, failed, skipped int
	for _, file := range files {
		for _, v := range readVectors(t, file) {
			skip := false
			ok := t.Run(v.ID, func(t *testing.T) {
				compute, ok := known[v.Statistic]
				if !ok {
					if !foreign {
						t.Fatalf("statistic %q is not implemented", v.Statistic)
					}
					skip = true
					t.Skipf("statistic %q is not implemented", v.Statistic)
				}
				got, err := compute(v)
				if err != nil {
					t.Fatal(err)
				}
				for name, want := range v.Expected {
					tol, given := v.Tolerance[name]
					if !given {
						tol = v.PreciseTolerance
					}
					compare(t, name, got, want, tol)
				}
				for name, want := range v.Precise {
					compare(t, name+" (precise)", got, want, v.PreciseTolerance)
				}
			})
			switch {
			case skip:
				skipped++
			case ok:
				passed++
			default:
				failed++
			}
		}
	}
	fmt.Printf("vectors: %d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if passed == 0 {
		t.Error("no vector passed")
	}
}

func vectorFiles(t *testing.T) (files []string, foreign bool) {
	t.Helper()
	if list := os.Getenv("AGREEMENT_VECTORS"); list != "" {
		return filepath.SplitList(list), true
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors in testdata: %v", err)
	}
	return files, false
}

func readVectors(t *testing.T, file string) []vector {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var list struct{ Vectors []vector }
	if err := json.Unmarshal(body, &list); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	if len(list.Vectors) == 0 {
		t.Fatalf("%s holds no vectors", file)
	}
	return list.Vectors
}

// compare checks got[name] against want. A name that the code does not give is
// a failure, and so is a number where null is expected.
func compare(t *testing.T, name string, got map[string]any, want any, tol float64) {
	t.Helper()
	g, ok := got[strings.TrimSuffix(name, " (precise)")]
	if !ok {
		t.Errorf("%s: not computed", name)
		return
	}
	if !near(g, want, tol) {
		t.Errorf("%s = %v, want %v within %g", name, g, want, tol)
	}
}

func near(got, want any, tol float64) bool {
	switch w := want.(type) {
	case nil:
		return got == nil
	case float64:
		g, ok := got.(float64)
		return ok && math.Abs(g-w) <= tol
	case bool:
		return got == w
	case string:
		return got == w
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for i := range w {
			if !near(g[i], w[i], tol) {
				return false
			}
		}
		return true
	}
	return false
}

func (v vector) level() float64 {
	if v.Options.ConfLevel != nil {
		return *v.Options.ConfLevel
	}
	return 0.95
}

func (v vector) weights(q int) (agreement.Weights, error) {
	switch name := v.Options.Weights; name {
	case "", "identity", "none", "unweighted", "nominal":
		return agreement.Identity(q), nil
	case "linear":
		return agreement.Linear(q), nil
	case "quadratic":
		return agreement.Quadratic(q), nil
	case "ordinal":
		return agreement.Ordinal(q), nil
	case "custom":
		return agreement.FromDisagreement(v.Options.Disagreement)
	default:
		return nil, fmt.Errorf("weights %q are not known", name)
	}
}

// scale is the declared one, else the labels in use, numbers by size.
func (v vector) scale(used ...[]any) []string {
	declared := v.Input.Categories
	if declared == nil {
		declared = v.Options.Categories
	}
	if declared != nil {
		labels := make([]string, len(declared))
		for i, c := range declared {
			labels[i] = text(c)
		}
		return labels
	}
	seen := map[string]bool{}
	var labels []string
	for _, row := range used {
		for _, c := range row {
			if l := text(c); c != nil && !seen[l] {
				seen[l] = true
				labels = append(labels, l)
			}
		}
	}
	sort.Slice(labels, func(i, j int) bool {
		a, errA := strconv.ParseFloat(labels[i], 64)
		b, errB := strconv.ParseFloat(labels[j], 64)
		if errA == nil && errB == nil {
			return a < b
		}
		return labels[i] < labels[j]
	})
	return labels
}

// text is a label as text; a missing one is empty.
func text(c any) string {
	switch c := c.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(c, 'g', -1, 64)
	}
	return fmt.Sprint(c)
}

func texts(row []any) []string {
	out := make([]string, len(row))
	for i, c := range row {
		out[i] = text(c)
	}
	return out
}

func numbered(q int) []string {
	labels := make([]string, q)
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	return labels
}

// confusion reads any input that describes two raters.
func (v vector) confusion() (agreement.Confusion, error) {
	switch v.Input.Type {
	case "confusion_matrix":
		labels := numbered(len(v.Input.Matrix))
		if c := v.scale(); len(c) == len(labels) {
			labels = c
		}
		return agreement.NewConfusion(labels, v.Input.Matrix)
	case "pairs":
		var x, y []any
		if err := json.Unmarshal(v.Input.X, &x); err != nil {
			return agreement.Confusion{}, err
		}
		if err := json.Unmarshal(v.Input.Y, &y); err != nil {
			return agreement.Confusion{}, err
		}
		return agreement.CountPairs(v.scale(x, y), texts(x), texts(y))
	case "ratings":
		var x, y []string
		for _, row := range v.Input.Ratings {
			if len(row) != 2 {
				return agreement.Confusion{}, fmt.Errorf("%d raters where two are needed", len(row))
			}
			if row[0] != nil && row[1] != nil {
				x, y = append(x, text(row[0])), append(y, text(row[1]))
			}
		}
		return agreement.CountPairs(v.scale(v.Input.Ratings...), x, y)
	}
	return agreement.Confusion{}, fmt.Errorf("input %q does not describe two raters", v.Input.Type)
}

// items reads any input that describes items with labels.
func (v vector) items() (agreement.Items, error) {
	switch v.Input.Type {
	case "counts":
		q := 0
		if len(v.Input.Counts) > 0 {
			q = len(v.Input.Counts[0])
		}
		labels := numbered(q)
		if c := v.scale(); len(c) == q {
			labels = c
		}
		return agreement.NewItems(labels, v.Input.Counts)
	case "ratings":
		rows := make([][]string, len(v.Input.Ratings))
		for i, row := range v.Input.Ratings {
			rows[i] = texts(row)
		}
		return agreement.CountRatings(v.scale(v.Input.Ratings...), rows)
	case "confusion_matrix", "pairs":
		m, err := v.confusion()
		if err != nil {
			return agreement.Items{}, err
		}
		var counts [][]int
		for i, row := range m.Counts() {
			for j, n := range row {
				for range n {
					item := make([]int, len(row))
					item[i]++
					item[j]++
					counts = append(counts, item)
				}
			}
		}
		return agreement.NewItems(m.Labels(), counts)
	}
	return agreement.Items{}, fmt.Errorf("input %q does not describe items", v.Input.Type)
}

package ratings_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/ratings"
)

const m = ratings.Missing

func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		labels     []string
		raters     []string
		codes      []int32
		matrix     [][]int
		items      int
	}{
		{"long", "item,rater,label\n1,a,x\n2,b,y\n1,b,x\n", []string{"x", "y"}, []string{"a", "b"}, []int32{0, 0, m, 1}, nil, 2},
		{"long, other names, other order, a column more", "Label;comment;Reviewer;Trace_ID\n10;;a;1\n9;so;b;1\n", []string{"9", "10"}, []string{"a", "b"}, []int32{1, 0}, nil, 1},
		{"long with an item nobody labelled", "item,rater,label\n1,a,x\n2,a,NA\n3,b,\n", []string{"x"}, []string{"a", "b"}, []int32{0, m, m, m, m, m}, nil, 3},
		{"wide with items", "id,a,b\n1,x,y\n2,,x\n", []string{"x", "y"}, []string{"a", "b"}, []int32{0, 1, m, 0}, nil, 2},
		{"wide without items, tabs, marked", "\ufeffa\tb\n1\t2\n2\tNA\n", []string{"1", "2"}, []string{"a", "b"}, []int32{0, 1, 1, m}, nil, 2},
		{"wide with line ends of Windows and quotes", "id,a,b\r\n1,\"x, really\",y\r\n", []string{"x, really", "y"}, []string{"a", "b"}, []int32{0, 1}, nil, 1},
		{"numbers in order of size", "a,b\n10,9\n-1,2.5\n", []string{"-1", "2.5", "9", "10"}, []string{"a", "b"}, []int32{3, 2, 0, 1}, nil, 2},
		{"JSON ratings", `{"ratings":[["x",null],["y","x"]]}`, []string{"x", "y"}, []string{"rater 1", "rater 2"}, []int32{0, m, 1, 0}, nil, 2},
		{"JSON ratings alone", `[[1,2.50],[true,null]]`, []string{"1", "2.5", "true"}, []string{"rater 1", "rater 2"}, []int32{0, 1, 2, m}, nil, 2},
		{"JSON with a scale", `{"categories":["low","mid","high"],"raters":["a","b"],"ratings":[["high","low"]]}`, []string{"low", "mid", "high"}, []string{"a", "b"}, []int32{2, 0}, nil, 1},
		{"JSON with a scale after the ratings", `{"ratings":[["high","low"]],"categories":["low","mid","high"]}`, []string{"low", "mid", "high"}, []string{"rater 1", "rater 2"}, []int32{2, 0}, nil, 1},
		{"matrix", `{"confusion_matrix":[[3,1],[0,4]]}`, []string{"1", "2"}, []string{"rows", "columns"}, nil, [][]int{{3, 1}, {0, 4}}, 8},
		{"matrix with names", `{"confusion_matrix":[[3.0,1e2],[0,4]],"categories":["p","f"],"raters":["human","judge"]}`, []string{"p", "f"}, []string{"human", "judge"}, nil, [][]int{{3, 100}, {0, 4}}, 107},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ratings.Read(strings.NewReader(tt.body), "f")
			if err != nil {
				t.Fatal(err)
			}
			for what, diff := range map[string]string{
				"labels": cmp.Diff(tt.labels, got.Labels), "raters": cmp.Diff(tt.raters, got.Raters),
				"codes": cmp.Diff(tt.codes, got.Codes), "matrix": cmp.Diff(tt.matrix, got.Matrix),
			} {
				if diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			if got.Items() != tt.items {
				t.Errorf("%d items, want %d", got.Items(), tt.items)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       []string
	}{
		{"nothing", " \n", []string{"f: is empty"}},
		{"NUL", "a,b\n1,\x00\n", []string{"f:2: holds a NUL byte: is this a text file?"}},
		{"not UTF-8", "a,b\n1,2\n\xff,1\n", []string{"f:3: is not UTF-8 text; save it as UTF-8"}},
		{"header only", "item,rater,label\n", []string{"f:1: there are no ratings below the header"}},
		{"wide header only", "a,b\n", []string{"f:1: there are no ratings below the header"}},
		{"no item column", "rater,label\n", []string{"f:1: item: the column is missing; a long file needs item, rater and label, and this one has rater, label"}},
		{"rater twice in the header", "x,x\n1,2\n", []string{"f:1: x: two columns have this name; the header must name each rater once (a file without a header needs one)"}},
		{"nameless column", "a,\n1,2\n", []string{"f:1: column 2 has no name"}},
		{"no header", "1,2\n1,1\n2,2\n", []string{"f:1: the header looks like ratings (each of its cells is a label below): put a line on top that names the raters"}},
		{"item twice", "id,a,b\n1,x,y\n1,x,y\n", []string{"f:3: id: item 1 is there already, in line 2"}},
		{"rated twice", "item,rater,label\n1,a,x\n1,a,x\n", []string{"f:3: item: this rater has rated this item already, in line 2"}},
		{"short and long lines", "id,a,b\n1,x\n2,x,y,z\n", []string{"f:2: 2 columns where the header has 3", "f:3: 4 columns where the header has 3", "f:1: there are no ratings below the header"}},
		{"quote left open", "id,a,b\n1,\"x,y\n", []string{"f:2: csv: extraneous or missing \" in quoted-field", "f:1: there are no ratings below the header"}},
		{"long label", "a,b\n" + strings.Repeat("x", 1001) + ",y\n", []string{"f:2: a: is 1001 bytes long, where 1000 are enough for a name or label"}},
		{"name with a line break", "item,rater,label\n\"a\nb: fine\",,x\n", []string{"f:2: rater: is missing"}},
		{"JSON without either", "{\"x\": 1}", []string{"f: has neither ratings nor confusion_matrix"}},
		{"JSON with both", `{"ratings":[["a"]],"confusion_matrix":[[1]]}`, []string{"f:1: confusion_matrix: ratings and confusion_matrix cannot both be there"}},
		{"JSON cut off", "{\"ratings\": [[1,\n 2]", []string{"f:2: json: the file ends too early"}},
		{"JSON with more", "{\"ratings\": [[1, 2]]}\n{}", []string{"f:2: something follows the end"}},
		{"JSON name twice", `{"ratings":[["a","b"]],"ratings":[["a","b"]]}`, []string{"f:1: json: duplicate object member name"}},
		{"JSON rating is a list", "{\"ratings\": [\n[1, [2]]]}", []string{"f:2: ratings[0][1]: is not a label: text, a number, true, false or null"}},
		{"JSON row is none", `{"ratings": [1]}`, []string{"f:1: ratings[0]: is not an array of ratings"}},
		{"JSON ratings are none", `{"ratings": 3}`, []string{"f:1: ratings: is not an array of items, each an array of ratings"}},
		{"JSON empty label", `{"ratings": [["", "a"]]}`, []string{"f:1: ratings[0][0]: is an empty label; write null where a rating is missing"}},
		{"JSON off the scale", `{"ratings": [["z", "a"]], "categories": ["a"]}`, []string{"f:1: ratings[0][0]: label z is not one of the categories"}},
		{"JSON no items", `{"ratings": []}`, []string{"f: ratings: there are no items"}},
		{"item in two clusters", "item,cluster,rater,label\n1,k,a,x\n1,l,b,x\n", []string{"f:3: cluster: this item lies in another cluster in line 2"}},
		{"no cluster", "id,cluster,a,b\n1,,x,y\n", []string{"f:2: cluster: is missing"}},
		{"JSON clusters too few", `{"ratings":[["x","y"],["x","x"]],"clusters":["k"]}`, []string{"f: clusters: 1 clusters for 2 items"}},
		{"matrix with clusters", `{"confusion_matrix":[[1]],"clusters":["k"]}`, []string{"f: clusters: a confusion matrix has no items"}},
		{"JSON no raters", `{"ratings": [[]]}`, []string{"f:1: ratings[0]: has no ratings"}},
		{"JSON raters do not fit", `{"ratings": [["a"]], "raters": ["x","y"]}`, []string{"f: raters: 2 raters are named and the first item has 1 ratings"}},
		{"JSON category twice", `{"ratings": [["a"]], "categories": ["a","a"]}`, []string{"f:1: categories[1]: a is there twice"}},
		{"matrix not square", "{\"confusion_matrix\": [[1, 2],\n[3]]}", []string{"f:2: confusion_matrix[1]: has 1 cells in a matrix of 2 rows"}},
		{"matrix below zero", `{"confusion_matrix": [[1, -2], [3, 0.5]]}`, []string{"f:1: confusion_matrix[0][1]: -2 is not a count", "f:1: confusion_matrix[1][1]: 0.5 is not a count"}},
		{"matrix of text", `{"confusion_matrix": [["x"]]}`, []string{"f:1: confusion_matrix[0][0]: x is not a count"}},
		{"matrix with null", `{"confusion_matrix": [[null]]}`, []string{"f:1: confusion_matrix[0][0]: null is not a label here"}},
		{"matrix overflows", `{"confusion_matrix": [[900000000000000, 900000000000000], [1, 1]]}`, []string{"f:1: confusion_matrix[0]: the counts sum to more than 10^15"}},
		{"matrix and categories", `{"confusion_matrix": [[1]], "categories": ["a","b"]}`, []string{"f: categories: 2 categories for a matrix of 1 rows"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ratings.Read(strings.NewReader(tt.body), "f")
			faults := new(ratings.Faults)
			if !errors.As(err, &faults) {
				t.Fatalf("no faults but %v", err)
			}
			got := strings.Split(err.Error(), "\n")
			// The parser's own words may have more to say.
			ok := len(got) == len(tt.want)
			for i := 0; ok && i < len(got); i++ {
				ok = strings.HasPrefix(got[i], tt.want[i])
			}
			if !ok {
				t.Errorf("faults:\n%s\nwant:\n%s", err, strings.Join(tt.want, "\n"))
			}
		})
	}
}

// Three forms name the same clusters.
func TestClusters(t *testing.T) {
	for name, body := range map[string]string{
		"long": "item,rater,conversation,label\n1,a,k,x\n2,a,l,x\n1,b,k,y\n3,b,k,y\n",
		"wide": "id,cluster,a,b\n1,k,x,y\n2,l,x,\n3,k,,y\n",
		"JSON": `{"ratings":[["x","y"],["x",null],[null,"y"]],"clusters":["k","l","k"]}`,
	} {
		table, err := ratings.Read(strings.NewReader(body), "f")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]int{0, 1, 0}, table.Clusters); diff != "" || len(table.Raters) != 2 {
			t.Errorf("%s: raters %v, clusters (-want +got):\n%s", name, table.Raters, diff)
		}
		if x, y, c := table.Pairs(); len(x) != 1 || len(y) != 1 || len(c) != 1 || c[0] != 0 {
			t.Errorf("%s: pairs %v, %v in %v", name, x, y, c)
		}
	}
}

func TestManyFaultsAreCounted(t *testing.T) {
	_, err := ratings.Read(strings.NewReader("item,rater,label\n"+strings.Repeat("1,,x\n", 50)), "f")
	faults := new(ratings.Faults)
	if !errors.As(err, &faults) || len(faults.List) != 20 || faults.More != 30 {
		t.Errorf("%v", err)
	}
}

// A long file and a wide one that say the same make the same matrix.
func TestFormsAgree(t *testing.T) {
	long, err := ratings.Read(strings.NewReader("item,rater,label\n1,a,x\n1,b,y\n2,a,y\n2,b,y\n3,a,x\n"), "long")
	if err != nil {
		t.Fatal(err)
	}
	wide, err := ratings.Read(strings.NewReader("a,b\nx,y\ny,y\nx,\n"), "wide")
	if err != nil {
		t.Fatal(err)
	}
	a, errA := long.Confusion()
	b, errB := wide.Confusion()
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(a.Counts(), b.Counts()); diff != "" || a.N() != 2 {
		t.Errorf("%d pairs; (-long +wide):\n%s", a.N(), diff)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"item,rater,label\n1,a,x\n1,b,y\n", "id;a;b\n1;x;\n", "a\tb\n1\t2\n", "\ufeff{\"ratings\":[[1,null],[2,2]]}",
		`{"confusion_matrix":[[1,2],[3,4]],"categories":["a","b"]}`, `[["a","b"]]`, "{\"ratings\":", "\"", "1,2\n1,2\n", `[[1e400]]`, `[[-0]]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		table, err := ratings.Read(strings.NewReader(string(body)), "f")
		if err != nil {
			if faults := new(ratings.Faults); !errors.As(err, &faults) || len(faults.List) == 0 {
				t.Errorf("an error that names no fault: %v", err)
			}
			return
		}
		labels := slices.Clone(table.Labels)
		slices.Sort(labels)
		if len(slices.Compact(labels)) != len(table.Labels) {
			t.Errorf("a label is there twice: %q", table.Labels)
		}
		if len(table.Codes) != len(table.Raters)*table.Items() && table.Matrix == nil {
			t.Errorf("%d codes of %d items by %d raters", len(table.Codes), table.Items(), len(table.Raters))
		}
		for _, k := range table.Codes {
			if k < m || int(k) >= len(table.Labels) {
				t.Fatalf("code %d of %d labels", k, len(table.Labels))
			}
		}
		if len(table.Raters) == 2 {
			if _, err := table.Confusion(); err != nil {
				t.Errorf("no matrix: %v", err)
			}
		}
		if table.Matrix == nil {
			if _, err := table.Ratings(); err != nil {
				t.Errorf("no ratings: %v", err)
			}
		}
	})
}

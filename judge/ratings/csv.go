package ratings

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// Names that a column of a long file may have.
var (
	itemNames  = []string{"item", "item_id", "unit", "unit_id", "id", "trace", "trace_id"}
	raterNames = []string{"rater", "rater_id", "reviewer", "judge", "annotator", "coder"}
	labelNames = []string{"label", "rating", "category", "verdict", "score", "value"}
	// clusterNames are for what items have in common: a conversation, a question, a
	// person.
	clusterNames = []string{"cluster", "cluster_id", "conversation"}
)

// absent says that a cell of a CSV file holds no rating: it is empty, or NA as R
// writes it.
func absent(cell string) bool { return cell == "" || cell == "NA" }

type csvFile struct {
	*csv.Reader
	header []string
	line   int
	note   *notes
}

// readCSV reads either form; the header tells which.
func readCSV(body []byte, n *notes) Table {
	f := csvFile{Reader: csv.NewReader(bytes.NewReader(body)), note: n}
	f.Comma = delimiter(body)
	f.FieldsPerRecord = -1
	f.ReuseRecord = true
	header, ok := f.next()
	if !ok {
		if n.err() == nil {
			n.add(1, "", "there is no header")
		}
		return Table{}
	}
	f.header = slices.Clone(header)
	names := lower(f.header)
	for _, h := range f.header {
		if bad := tooLong(h); bad != "" {
			n.add(1, shown(h), "%s", bad)
			return Table{}
		}
	}
	item, rater, label := column(names, itemNames), column(names, raterNames), column(names, labelNames)
	if rater >= 0 && label >= 0 {
		if item < 0 {
			n.add(1, "item", "the column is missing; a long file needs item, rater and label, and this one has %s", strings.Join(shownAll(f.header), ", "))
			return Table{}
		}
		return f.long(item, rater, label)
	}
	return f.wide(names)
}

func lower(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strings.ToLower(n)
	}
	return out
}

func shownAll(names []string) []string {
	out := make([]string, 0, len(names))
	for _, n := range names[:min(len(names), 10)] {
		out = append(out, shown(n))
	}
	return out
}

// delimiter is the comma, or what a header without commas is divided by.
func delimiter(body []byte) rune {
	line, _, _ := bytes.Cut(body, []byte("\n"))
	for _, c := range []byte(",;\t") {
		if bytes.IndexByte(line, c) >= 0 {
			return rune(c)
		}
	}
	return ','
}

func column(names, wanted []string) int {
	for _, w := range wanted {
		if i := slices.Index(names, w); i >= 0 {
			return i
		}
	}
	return -1
}

// next is the next record, its cells without space around them.
func (f *csvFile) next() ([]string, bool) {
	record, err := f.Read()
	switch {
	case errors.Is(err, io.EOF):
		return nil, false
	case err != nil:
		line, msg := 0, err.Error()
		if p := new(csv.ParseError); errors.As(err, &p) {
			line, msg = p.Line, p.Err.Error()
		}
		f.note.add(line, "csv", "%s", msg)
		return nil, false
	}
	f.line, _ = f.FieldPos(0)
	for i, c := range record {
		record[i] = strings.TrimSpace(c)
	}
	return record, true
}

// fits says whether a record has the header's columns.
func (f *csvFile) fits(record []string) bool {
	if len(record) == len(f.header) {
		return true
	}
	f.note.add(f.line, "", "%d columns where the header has %d", len(record), len(f.header))
	return false
}

// wide has a column for each rater, and may have one for the item.
func (f *csvFile) wide(names []string) Table {
	id := column(names, itemNames)
	if id < 0 && len(names) > 1 && names[0] == "" {
		id = 0 // as R and pandas write their row names
	}
	cluster := column(names, clusterNames)
	clusters := map[string]int{}
	var raters []string
	var at []int
	for i, h := range f.header {
		if i == id || i == cluster {
			continue
		}
		if h == "" {
			f.note.add(1, "", "column %d has no name", i+1)
			return Table{}
		}
		if slices.Contains(raters, h) {
			f.note.add(1, shown(h), "two columns have this name; the header must name each rater once (a file without a header needs one)")
			return Table{}
		}
		raters, at = append(raters, h), append(at, i)
		if len(raters) > maxRaters {
			f.note.add(1, "", "there are more than %d raters", maxRaters)
			return Table{}
		}
	}
	if len(raters) == 0 {
		f.note.add(1, "", "the header names no rater")
		return Table{}
	}
	t := Table{Raters: raters}
	c := newCoder()
	seen := map[string]int{}
	for {
		record, ok := f.next()
		if !ok {
			break
		}
		if !f.fits(record) {
			continue
		}
		if id >= 0 {
			name := record[id]
			if before, twice := seen[name]; twice && name != "" {
				f.note.add(f.line, shown(f.header[id]), "item %s is there already, in line %d", shown(name), before)
				continue
			}
			seen[strings.Clone(name)] = f.line
		}
		if len(t.Codes)+len(raters) > maxCells {
			f.note.add(f.line, "", "there are more than %d ratings", maxCells)
			return Table{}
		}
		for r, i := range at {
			if absent(record[i]) {
				t.Codes = append(t.Codes, Missing)
				continue
			}
			k, bad := c.code(record[i])
			if bad != "" {
				f.note.add(f.line, shown(raters[r]), "%s", bad)
			}
			t.Codes = append(t.Codes, k)
		}
		t.items++
		if cluster >= 0 {
			name := record[cluster]
			if bad := tooLong(name); bad != "" || name == "" {
				if name == "" {
					bad = "is missing"
				}
				f.note.add(f.line, shown(f.header[cluster]), "%s", bad)
				continue
			}
			t.Clusters = append(t.Clusters, numberOf(clusters, name))
		}
	}
	if t.items == 0 {
		f.note.add(1, "", "there are no ratings below the header")
	}
	if all := len(raters) > 1; all && id < 0 {
		for _, r := range raters {
			_, used := c.at[r]
			all = all && used
		}
		if all {
			f.note.add(1, "", "the header looks like ratings (each of its cells is a label below): put a line on top that names the raters")
		}
	}
	t.Labels = c.labels
	t.sorted()
	return t
}

// numberOf gives each name a number, in order of appearance.
func numberOf(seen map[string]int, name string) int {
	k, ok := seen[name]
	if !ok {
		k = len(seen)
		seen[strings.Clone(name)] = k
	}
	return k
}

// long has a line for each rating.
func (f *csvFile) long(item, rater, label int) Table {
	type rating struct {
		item, rater, code int32
		line              int32
	}
	var all []rating
	c := newCoder()
	cluster := column(lower(f.header), clusterNames)
	items, raters, clusters := map[string]int{}, map[string]int{}, map[string]int{}
	var clusterLine []int // where an item's cluster was first named
	t := Table{}
	needed := []int{item, rater}
	if cluster >= 0 {
		needed = append(needed, cluster)
	}
	for {
		record, ok := f.next()
		if !ok {
			break
		}
		if !f.fits(record) {
			continue
		}
		bad := false
		for _, at := range needed {
			switch long := tooLong(record[at]); {
			case record[at] == "":
				f.note.add(f.line, shown(f.header[at]), "is missing")
				bad = true
			case long != "":
				f.note.add(f.line, shown(f.header[at]), "%s", long)
				bad = true
			}
		}
		if bad {
			continue
		}
		i, before := numberOf(items, record[item]), len(raters)
		r := numberOf(raters, record[rater])
		if cluster >= 0 {
			k := numberOf(clusters, record[cluster])
			switch {
			case i == len(t.Clusters):
				t.Clusters, clusterLine = append(t.Clusters, k), append(clusterLine, f.line)
			case t.Clusters[i] != k:
				f.note.add(f.line, shown(f.header[cluster]), "this item lies in another cluster in line %d", clusterLine[i])
				continue
			}
		}
		if len(raters) > before {
			t.Raters = append(t.Raters, strings.Clone(record[rater]))
			if len(raters) > maxRaters {
				f.note.add(f.line, shown(f.header[rater]), "there are more than %d raters", maxRaters)
				return Table{}
			}
		}
		if absent(record[label]) {
			continue // the item and the rater are known, the rating is not there
		}
		if len(all) == maxCells {
			f.note.add(f.line, "", "there are more than %d ratings", maxCells)
			return Table{}
		}
		k, wrong := c.code(strings.Clone(record[label]))
		if wrong != "" {
			f.note.add(f.line, shown(f.header[label]), "%s", wrong)
			continue
		}
		all = append(all, rating{int32(i), int32(r), k, int32(f.line)})
	}
	if len(all) == 0 {
		if f.note.err() == nil {
			f.note.add(1, "", "there are no ratings below the header")
		}
		return Table{}
	}
	if len(items)*len(raters) > maxCells {
		f.note.add(0, "", "%d items by %d raters are more than %d cells", len(items), len(raters), maxCells)
		return Table{}
	}
	t.items = len(items)
	t.Codes = make([]int32, len(items)*len(raters))
	lines := make([]int32, len(t.Codes))
	for i := range t.Codes {
		t.Codes[i] = Missing
	}
	for _, one := range all {
		at := int(one.item)*len(raters) + int(one.rater)
		if lines[at] != 0 {
			f.note.add(int(one.line), shown(f.header[item]), "this rater has rated this item already, in line %d", lines[at])
			continue
		}
		lines[at], t.Codes[at] = one.line, one.code
	}
	t.Labels = c.labels
	t.sorted()
	return t
}

package store

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"

	"github.com/countersign/countersign/judge"
)

// traceLanguage is the language that a trace's metadata names as "language", by
// its ISO 639 code without region and script ("de-AT" is de); empty: none.
func traceLanguage(t judge.Trace) string {
	named, ok := t.Metadata["language"].(string)
	if !ok {
		return ""
	}
	code, err := baseLanguage(named)
	if err != nil {
		return ""
	}
	return code
}

// baseLanguage is the ISO 639 code of a BCP 47 tag.
func baseLanguage(tag string) (string, error) {
	t, err := language.Parse(strings.TrimSpace(tag))
	if err != nil {
		return "", err
	}
	base, _ := t.Base()
	if base.String() == "und" {
		return "", fmt.Errorf("%q names no language", tag)
	}
	return base.String(), nil
}

// mark is one fact of a trace that a conflict of interest may name.
type mark struct{ key, value string } // folded

// marksOf are the facts of a trace: tags, metadata, cluster, run, sources (id,
// title, address). A list in the metadata gives a mark for each entry, an object
// one for each key, as outer.inner.
func marksOf(t judge.Trace, runs []string) (marks []mark) {
	add := func(key, value string) {
		if value = foldWords(value); value != "" {
			marks = append(marks, mark{foldWords(key), value})
		}
	}
	for _, tag := range t.Tags {
		add("tag", tag)
	}
	add("cluster", t.Cluster)
	for _, run := range runs {
		add("run", run)
	}
	for _, s := range t.Sources {
		add("source", s.ID)
		add("source", s.Title)
		add("source", s.URL)
	}
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(strings.TrimPrefix(key+"."+k, "."), v[k])
			}
		case []any:
			for _, x := range v {
				walk(key, x)
			}
		default:
			add(key, fmt.Sprint(v))
		}
	}
	walk("", map[string]any(t.Metadata))
	return marks
}

// foldWords leaves the words of a text: lower case, one space between them.
func foldWords(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }), " ")
}

// conflictWith gives the first entry of a profile's conflicts that one of the
// marks meets; empty: none. "key:value" meets the values of that key (tag,
// cluster, run, source, or a key of the metadata), another entry the values of
// any; it is met where its words stand in the value side by side. It is
// generous on purpose: an item too many for somebody else is the smaller harm.
func conflictWith(conflicts []string, marks []mark) string {
	for _, c := range conflicts {
		key, value, keyed := strings.Cut(c, ":")
		words, anywhere := foldWords(value), foldWords(c)
		for _, m := range marks {
			if keyed && words != "" && m.key == foldWords(key) && within(words, m.value) || anywhere != "" && within(anywhere, m.value) {
				return c
			}
		}
	}
	return ""
}

// within says whether words stand side by side in a text; both are folded.
func within(words, text string) bool { return strings.Contains(" "+text+" ", " "+words+" ") }

// interested is a person whose profile names conflicts of interest.
type interested struct {
	user      string
	conflicts []string
}

// noteConflicts writes down who has a conflict of interest with items that
// have just begun to wait. Where nobody's profile names any, nothing is read.
func (t *tx) noteConflicts(ctx context.Context, evaluationIDs ...string) error {
	people, err := collect(ctx, t, func(r *sql.Rows, p *interested) error { return r.Scan(&p.user, (*jsonTexts)(&p.conflicts)) }, `SELECT user_id, conflicts FROM member_profiles WHERE conflicts <> '[]'`)
	if err != nil || len(people) == 0 {
		return err
	}
	return inBatches(evaluationIDs, func(batch []string) error {
		items, err := conflictable(ctx, t, `r.evaluation_id IN (`+placeholders(len(batch))+`)`, anys(batch)...)
		if err != nil {
			return err
		}
		return t.matchConflicts(ctx, people, items)
	})
}

// conflictItem is a waiting item with what its trace says.
type conflictItem struct {
	review string
	marks  []mark
}

// conflictable reads the waiting items of a condition on reviews r.
func conflictable(ctx context.Context, q querier, condition string, args ...any) ([]conflictItem, error) {
	type place struct{ review, trace, body string }
	places, err := collect(ctx, q, func(r *sql.Rows, p *place) error { return r.Scan(&p.review, &p.trace, (*digest)(&p.body)) }, `
SELECT r.id, t.id, t.body_hash FROM reviews r JOIN traces t ON t.id = r.trace_id
WHERE r.state IN ('open', 'claimed', 'adjudication') AND `+condition+` ORDER BY r.id`, args...)
	if err != nil {
		return nil, err
	}
	items := make([]conflictItem, 0, len(places))
	for batch := range slices.Chunk(places, conflictBatch) {
		var hashes, traces []string
		for _, p := range batch {
			hashes, traces = append(hashes, p.body), append(traces, p.trace)
		}
		bodies, err := textsFrom(q).bodies(ctx, hashes)
		if err != nil {
			return nil, err
		}
		runs := map[string][]string{}
		type member struct{ trace, run string }
		members, err := collect(ctx, q, func(r *sql.Rows, m *member) error { return r.Scan(&m.trace, &m.run) }, `
SELECT rt.trace_id, ru.name FROM run_traces rt JOIN runs ru ON ru.id = rt.run_id
WHERE rt.trace_id IN (`+placeholders(len(traces))+`)`, anys(traces)...)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			runs[m.trace] = append(runs[m.trace], m.run)
		}
		for _, p := range batch {
			items = append(items, conflictItem{p.review, marksOf(bodies[p.body].Trace, runs[p.trace])})
		}
	}
	return items, nil
}

// conflictBatch is how many traces are unpacked at once.
const conflictBatch = 200

func (t *tx) matchConflicts(ctx context.Context, people []interested, items []conflictItem) error {
	rows := newBulk("review_conflicts", " ON CONFLICT (user_id, review_id) DO NOTHING", "review_id", "user_id", "matched")
	for _, item := range items {
		for _, p := range people {
			if matched := conflictWith(p.conflicts, item.marks); matched != "" {
				rows.add(item.review, p.user, matched)
			}
		}
	}
	return rows.write(ctx, t)
}

// rematch works out anew which waiting items a person has a conflict of interest
// with, and gives back those that they hold.
func (t *tx) rematch(ctx context.Context, a Actor, u User, conflicts []string) error {
	if _, err := t.exec(ctx, `DELETE FROM review_conflicts WHERE user_id = ?`, u.ID); err != nil {
		return err
	}
	if len(conflicts) == 0 {
		return nil
	}
	items, err := conflictable(ctx, t, `1 = 1`)
	if err != nil {
		return err
	}
	if err := t.matchConflicts(ctx, []interested{{u.ID, conflicts}}, items); err != nil {
		return err
	}
	return t.releaseClaims(ctx, a, u, "conflict of interest",
		` AND EXISTS (SELECT 1 FROM review_conflicts k WHERE k.review_id = r.id AND k.user_id = r.holder_id)`)
}

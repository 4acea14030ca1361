package web

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// sourcePath is the page of an item's n-th source, from 0.
func sourcePath(review string, n int) string {
	return reviewPath(review) + "/sources/" + strconv.Itoa(n+1)
}

func sourceAnchor(n int) string { return "source-" + strconv.Itoa(n+1) }

// short says that the n-th source stands on the desk as a whole.
func short(d *deskItem, n int) bool {
	all := 0
	if len(d.sheet.Units) > mostWhole {
		return false
	}
	for i, s := range d.review.Trace.Sources {
		if len(s.Text) > shortSource || all+len(s.Text) > shortSources {
			if i == n {
				return false
			}
			continue
		}
		all += len(s.Text)
		if i == n {
			return true
		}
	}
	return false
}

// wholeSources are the sources of an item: the short ones as a whole.
func wholeSources(d *deskItem, all []ruling.Citation) []views.WholeSource {
	sources := d.review.Trace.Sources
	list := make([]views.WholeSource, len(sources))
	used := 0
	for i := range sources {
		list[i] = wholeSource(sources, i)
		if size := len(sources[i].Text); size > shortSource || used+size > shortSources || len(all) > mostWhole {
			list[i].Href = sourcePath(d.review.ReviewID, i)
			continue
		}
		used += len(sources[i].Text)
		list[i].Text = sourceText(sources, i, all)
	}
	return list
}

func wholeSource(sources []judge.Source, i int) views.WholeSource {
	w := views.WholeSource{Anchor: sourceAnchor(i), Title: sources[i].Title, ID: sources[i].ID, Address: sources[i].URL}
	if w.Title == "" {
		w.Title = w.ID
	}
	return w
}

// sourceText is a source with the passages marked that citations lead to.
func sourceText(sources []judge.Source, i int, all []ruling.Citation) []views.Segment {
	if at := slices.IndexFunc(sources, func(s judge.Source) bool { return s.ID == sources[i].ID }); at != i {
		return views.Text(sources[i].Text) // the first of an id is the one cited
	}
	var marks []mark
	var chips []views.Segment
	at := map[int][]int{} // of a place in the text, the chips to stand before it
	for k := range all {
		c := &all[k]
		if c.Source == nil || c.Source.ID != sources[i].ID || c.Passage.Text == "" {
			continue
		}
		start, kind := c.Passage.Start, views.Near
		if c.Match.Found() {
			start = c.Match.Start
			if c.Kind == ruling.MatchExact {
				kind = views.Marked
			}
			for _, s := range c.Match.Spans {
				marks = append(marks, mark{s, kind, ""})
			}
		}
		n := strconv.Itoa(c.Marker.Number)
		at[start] = append(at[start], len(chips))
		chips = append(chips, views.Segment{Text: n, Kind: views.Back, Ref: n})
	}
	starts := make([]int, 0, len(at))
	for start := range at {
		starts = append(starts, start)
	}
	slices.Sort(starts)
	text := sources[i].Text
	var out []views.Segment
	from := 0
	for _, start := range append(starts, len(text)) {
		if start > from {
			out = append(out, cut(text, evidence.Span{Start: from, End: start}, marks)...)
			from = start
		}
		for _, chip := range at[start] {
			out = append(out, chips[chip])
		}
	}
	return out
}

// showSource is the page of one source of an item: for sources too long to stand
// on the desk. It holds the texts and what comparing found, and nothing of a judge.
func (s *Server) showSource(c echo.Context) error {
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	r, err := s.cfg.Store.GetReview(ctx, actor, id)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(param(c, "n"))
	if err != nil || n < 1 || n > len(r.Trace.Sources) {
		return store.ErrNotFound
	}
	sources := r.Trace.Sources
	w := wholeSource(sources, n-1)
	var all []ruling.Citation
	if r.Judge == citationsJudge {
		all = s.citationsOf(&r.Trace)
	}
	w.Text = sourceText(sources, n-1, all)
	f, err := s.frame(c, w.Title, views.TabQueue)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Source(views.SourcePage{Frame: f, Review: r.ReviewID, Title: r.Title, Source: w}))
}

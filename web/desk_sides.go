package web

import (
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// sides lays what people said on an item beside each other, with the judge's
// answer where there is one. Nil: nobody said anything.
func (d deskItem) sides() *views.Sides {
	var said views.Sides
	var columns []map[string]judge.Ruling
	if e := d.review.Evaluation; e != nil && e.Verdict != "" {
		said.Heads = append(said.Heads, views.SideHead{Judge: true, Mark: views.Mark{Verdict: e.Verdict, Label: e.Label, Score: e.Score}})
		columns = append(columns, nil) // its choices stand in the sheet
	}
	people := 0
	for _, x := range d.review.Decisions {
		if x.UndoneAt != nil || x.OverQuota {
			continue
		}
		people++
		said.Heads = append(said.Heads, views.SideHead{
			Name: x.UserName, Mark: views.Mark{Verdict: x.Verdict, Label: x.Label}, Line: views.SignLine(signatureOf(x, false)), Comment: x.Comment,
		})
		columns = append(columns, byPart(x.Rulings))
	}
	if people == 0 {
		return nil
	}
	for i, u := range d.sheet.Units {
		href := "#" + anchorOf(&d.sheet.Units[i], i)
		for _, p := range u.Parts {
			d.addSide(&said, sideTitle(u, p), href, p, columns)
		}
	}
	said.Rows = append(said.Rows, d.addedSides(columns)...)
	return &said
}

// addSide adds a part's row when somebody ruled on it and not all say the same.
func (d deskItem) addSide(said *views.Sides, title, href string, p ruling.Part, columns []map[string]judge.Ruling) {
	row := views.SideRow{Title: title, Href: href}
	ruled, first, differ := false, "", false
	for _, column := range columns {
		value, note := p.Judged, ""
		if column != nil {
			value, note = column[p.Key].Value, column[p.Key].Note
			ruled = ruled || value != ""
		}
		if value != "" {
			differ = differ || first != "" && value != first
			first = value
		}
		text := value
		if c, ok := p.Choice(value); ok {
			text = c.Text
		}
		row.Cells = append(row.Cells, views.SideCell{Text: text, Note: note})
	}
	switch {
	case differ && ruled:
		said.Rows = append(said.Rows, row)
	case ruled:
		said.Same++
	}
}

func sideTitle(u ruling.Unit, p ruling.Part) string {
	if p.Title == u.Title {
		return u.Title
	}
	return u.Title + ": " + strings.ToLower(p.Title[:min(1, len(p.Title))]) + p.Title[min(1, len(p.Title)):]
}

// addedSides are the findings that people added on their own, a row for each.
func (d deskItem) addedSides(columns []map[string]judge.Ruling) []views.SideRow {
	var rows []views.SideRow
	for at, column := range columns {
		for _, u := range d.sheet.Units {
			for _, p := range u.Parts {
				if !p.Many {
					continue
				}
				for n := 1; n <= ruling.MostAdded; n++ {
					r, ok := column[p.Key+"/"+strconv.Itoa(n)]
					if !ok {
						continue
					}
					row := views.SideRow{Title: p.Title, Href: "#main", Cells: make([]views.SideCell, len(columns))}
					row.Cells[at] = addedCell(r)
					rows = append(rows, row)
				}
			}
		}
	}
	return rows
}

func addedCell(r judge.Ruling) views.SideCell {
	own, err := ruling.ParseAdded(r)
	if err != nil { // kept as it was written
		return views.SideCell{Text: r.Value, Note: r.Note}
	}
	return views.SideCell{Text: words(own.Severity), Note: own.Explanation}
}

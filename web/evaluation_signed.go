package web

import (
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// signedDecisions are decisions with what was frozen with them. sheet tells what
// the judge said of each part; a part that it has no more is told by its key.
func signedDecisions(decisions []store.Decision, sheet ruling.Sheet) []views.SignedDecision {
	list := make([]views.SignedDecision, len(decisions))
	for i, d := range decisions {
		s := views.SignedDecision{
			Signature: signatureOf(d, false), Anchor: "d" + strconv.Itoa(i+1), Adjudication: d.Adjudication, OverQuota: d.OverQuota,
			Severity: d.Severity, To: d.To, Rulings: rulingRows(d.Rulings, sheet),
		}
		if d.UndoneAt != nil {
			s.Undone = d.UndoneAt.UTC().Format("2 January 2006, 15:04:05 UTC")
		}
		if g := d.Signature; g != nil {
			s.Name, s.Role, s.At = g.Name, string(g.Role), g.At
			s.Qualification, s.Affirmation, s.Wording, s.Stated = g.Qualification, g.Affirmation, g.Wording, g.Shown.Stated
			s.Shown = shownFacts(g.Shown)
		}
		list[i] = s
	}
	return list
}

func shownFacts(x store.Shown) []views.ShownFact {
	var facts []views.ShownFact
	add := func(name, value string, hash bool) {
		if value != "" && value != "0" {
			facts = append(facts, views.ShownFact{Name: name, Value: value, Hash: hash})
		}
	}
	add("Trace’s revision", strconv.Itoa(x.TraceRevision), false)
	add("Trace", x.TraceSHA256, true)
	add("Judge’s version", x.PromptVersion, true)
	add("Judge’s report", x.ReportSHA256, true)
	add("Policy’s version", strconv.Itoa(x.PolicyVersion), false)
	add("Program", x.PageVersion, false)
	add("Draft’s version", strconv.Itoa(x.DraftVersion), false)
	return facts
}

// rulingRows are a person's rulings beside the judge's, in the order they gave them.
func rulingRows(rulings []judge.Ruling, sheet ruling.Sheet) []views.RulingRow {
	changed := sheet.Changed(rulings)
	rows := make([]views.RulingRow, len(rulings))
	for i, r := range rulings {
		row := views.RulingRow{Part: partTitle(r.Part), Person: r.Value, Note: r.Note, Differs: slices.Contains(changed, r.Part)}
		if p, known := sheet.Part(r.Part); known {
			row.Person, row.Judge = choiceWord(p, r.Value), choiceWord(p, p.Judged)
		}
		rows[i] = row
	}
	return rows
}

// partTitle is a part's key as people read it: "Citation 3, support".
func partTitle(key string) string {
	f := strings.Split(strings.ReplaceAll(key, "_", " "), "/")
	if f[0] != "" {
		f[0] = strings.ToUpper(f[0][:1]) + f[0][1:]
	}
	if len(f) > 1 {
		f[0] += " " + f[1]
		f = slices.Delete(f, 1, 2)
	}
	return strings.Join(f, ", ")
}

func choiceWord(p ruling.Part, value string) string {
	if c, known := p.Choice(value); known && c.Text != "" {
		return c.Text
	}
	return value
}

// standingDecision is the index of the newest decision that was neither taken back nor
// added late; -1: there is none.
func standingDecision(decisions []store.Decision) int {
	for i, d := range slices.Backward(decisions) {
		if d.UndoneAt == nil && !d.OverQuota {
			return i
		}
	}
	return -1
}

// chain is audit events as a table, oldest first.
func chain(events []store.AuditEvent) []views.AuditRow {
	rows := make([]views.AuditRow, len(events))
	for i, e := range events {
		rows[i] = views.AuditRow{
			Seq: e.Seq, At: e.At, Actor: e.Actor, ByPerson: e.ActorID != "", Action: actionText(e.Action), Denied: !e.Allowed,
			Subject: e.Subject, Detail: eventNote(e.Data), Previous: e.PrevHash, Hash: e.Hash,
		}
	}
	slices.SortFunc(rows, func(a, b views.AuditRow) int { return int(a.Seq - b.Seq) })
	return rows
}

// permalink leads to an evaluation and names the content that it is of.
func (s *Server) permalink(id, hash string) string {
	return strings.TrimSuffix(s.cfg.BaseURL, "/") + evaluationPath(id) + "?trace=" + hash[:min(16, len(hash))]
}

// otherContent says that a link was made for another content than this one's.
func otherContent(asked, hash string) bool { return asked != "" && !strings.HasPrefix(hash, asked) }

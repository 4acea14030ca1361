package web

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
)

// anyRevision is the newest a trace may have; a bound for the parameter.
const anyRevision = 1_000_000

func (s *Server) showTrace(c echo.Context) error {
	revision, err := intParam(c, "revision", 0, 1, anyRevision)
	if err != nil {
		return err
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	v, err := s.cfg.Store.GetTrace(c.Request().Context(), user(c).Actor(), project, param(c, "id"), revision)
	if err != nil {
		return err
	}
	f, err := s.frame(c, "Trace "+v.Trace.ID, views.TabEvaluations)
	if err != nil {
		return err
	}
	t := &v.Trace
	judges, err := s.judgesOfTrace(c.Request().Context(), project, t, v.Evaluations)
	if err != nil {
		return err
	}
	p := views.TracePage{
		Frame: f, ID: t.ID, ItemTitle: t.Title(), Domain: t.Domain, Stakes: t.Stakes, Run: t.Run, Tags: t.Tags,
		Cluster: t.Cluster, Hashes: v.Hashes, Trace: traceText(t, s.citationsOf(t)), Inputs: inputsOf(t, nil),
		Evaluations: evaluationRows(v.Evaluations), Judges: judges, MayJudge: isLead(user(c).Actor()), Engines: s.targetChoices(), Labels: importedRows(t.Labels), Sealed: v.Sealed,
	}
	textFor(f, &p.Trace, t, s.citationsOf(t), v.Revision, v.Hashes.Trace)
	if t.Run != "" {
		p.RunHref = runPath(t.Run)
	}
	if len(t.Metadata) > 0 {
		metadata, err := json.MarshalIndent(t.Metadata, "", "  ")
		if err != nil {
			return err
		}
		p.Metadata = string(metadata)
	}
	for _, r := range slices.Backward(v.Revisions) {
		p.Revisions = append(p.Revisions, views.Revision{
			N: r.Number, At: r.CreatedAt, Hash: r.ContentHash, Href: revisionPath(t.ID, r.Number), Current: r.Number == v.Revision,
		})
	}
	return s.render(c, http.StatusOK, views.Trace(p))
}

// importedRows are the labels that came with the trace's file.
func importedRows(labels []judge.HumanLabel) []views.LabelRow {
	rows := make([]views.LabelRow, len(labels))
	for i, l := range labels {
		rows[i] = views.LabelRow{
			Judge: l.Judge, Reviewer: l.Reviewer, Mark: views.Mark{Verdict: l.Verdict, Label: l.Label}, Imported: true,
			Adjudicated: l.Adjudicated, Comment: l.Comment, Blind: l.Blind != nil && *l.Blind,
		}
		if l.At != nil {
			rows[i].At = *l.At
		}
	}
	return rows
}

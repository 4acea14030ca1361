package web

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// driftViews are the drift of a judge's series, in the order of reports; nil where
// nothing was judged. Their letters stand on the drawing of kappa too.
func (s *Server) driftViews(c echo.Context, f views.Frame, name string, reports []calibration.Report, changes []store.TrustChange) ([]*views.Drift, error) {
	all, err := s.cfg.Store.Drift(c.Request().Context(), user(c).Actor(), f.Project, name)
	if err != nil {
		return nil, err
	}
	out := make([]*views.Drift, len(reports))
	for i, r := range reports {
		for _, d := range all {
			if d.Model == r.Model && d.PromptVersion == r.PromptVersion {
				out[i] = driftView(f, name, d, user(c).Actor().Role != store.Auditor)
				out[i].Markers = append(append(out[i].Markers, versionMarkers(r, reports)...), trustMarkers(r, changes)...)
				letter(out[i].Markers)
			}
		}
	}
	return out, nil
}

func driftView(f views.Frame, name string, d store.DriftReport, lead bool) *views.Drift {
	v := &views.Drift{Frame: f, Model: d.Model, Version: d.PromptVersion, Again: d.Baseline != nil}
	if lead {
		v.FreezeAction = calibrationPath(name) + "/baseline"
	}
	if b := d.Baseline; b != nil {
		by := "by " + b.FrozenBy
		if b.Automatic {
			by = fmt.Sprintf("by itself, at %d labels", b.Counts.Labels)
		}
		v.Line = fmt.Sprintf("Held against a baseline of %s, frozen %s: %s.", dayText(b.FrozenAt), by, baselineSpan(*b))
		v.FreezeNote = "A new baseline takes what was seen until now as normal, and everything is counted anew against it. The old one stays on record."
		v.Markers = append(v.Markers, views.DriftMarker{At: b.FrozenAt, What: "Baseline frozen", Note: sentenceCase(by)})
	} else {
		v.Line = fmt.Sprintf("Nothing is watched yet: no baseline is frozen. There are %s of random audits; at %d a baseline is frozen by itself.",
			counted(d.Labels, "label"), calibration.AutomaticBaseline)
		v.FreezeNote = fmt.Sprintf("Takes how the judge does now as normal. It needs %d labels of random audits, or %d verdicts to watch those alone.", calibration.MinBaseline, calibration.MinBaseline)
	}
	for _, m := range d.Monitors {
		v.Rows = append(v.Rows, driftRow(m))
	}
	for _, a := range d.Alarms {
		v.Markers = append(v.Markers, alarmMarker(name, a, lead))
	}
	if s := d.Sentinel; s != nil {
		v.Retest = fmt.Sprintf("The sentinel set was judged %s, last on %s.", counted(s.Rounds, "time"), dayText(s.LastAt))
		if s.Again > 0 {
			v.Retest += fmt.Sprintf(" Then the judge said the same as in its own evaluation on %d of %d: test and retest.", s.Same, s.Again)
		}
	}
	return v
}

func baselineSpan(b store.DriftBaseline) string {
	line := counted(b.Counts.Labels, "label") + " of random audits"
	if !b.FirstLabel.IsZero() {
		line += " from " + dayText(b.FirstLabel) + " to " + dayText(b.LastLabel)
	}
	return line
}

func dayText(t time.Time) string { return t.UTC().Format("2 January 2006") }

// What a monitor measures, in a word and in a sentence.
var monitorWords = map[string][2]string{
	calibration.MonitorAgreement: {"Agreement with people", "Of labels drawn at random, the share on which people and the judge say the same."},
	calibration.MonitorPassed:    {"Share that passes", "Of all verdicts, labelled or not. It moves with the judge, and with the work."},
	calibration.MonitorScore:     {"Mean score", "Of all scores. If it rises and people’s labels do not, scores are inflated."},
	calibration.MonitorParts:     {"Parts left as they were", "Of a report’s citations, steps or dimensions, the share that people left as the judge had them; each decision counts once."},
	calibration.MonitorSentinel:  {"Sentinel set", "Of the same items judged again, the share with the known verdict."},
}

// monitorUnits are what a monitor counts.
var monitorUnits = map[string]string{
	calibration.MonitorAgreement: "label", calibration.MonitorPassed: "verdict", calibration.MonitorScore: "score", calibration.MonitorParts: "decision", calibration.MonitorSentinel: "item",
}

func driftRow(m store.DriftMonitor) views.DriftRow {
	words := monitorWords[m.Name]
	r := views.DriftRow{Name: words[0], Sentence: words[1], State: "steady"}
	if m.Until.After(m.Since) {
		r.Sentence += " Told for you until " + dayText(m.Until.AddDate(0, 0, -1)) + ": later ones wait blind, and you may be asked about them."
	}
	switch {
	case m.Untold != "":
		r.Baseline, r.Now = views.Estimate{Why: "not told"}, views.Estimate{Why: "Not told: " + m.Untold}
		r.State = "watched"
	case m.Unwatched != "":
		r.Baseline, r.Now = estimateView(m.Baseline), estimateView(m.Value)
		r.State = "not watched: " + m.Unwatched
	default:
		r.Baseline, r.Now = estimateView(m.Baseline), estimateView(m.Value)
		if m.Value.Defined() {
			r.Now.Low, r.Now.High = &m.Sequence.Low, &m.Sequence.High
			r.Evidence = odds(m.Evidence.Log)
			r.Sentence += " Since then: " + counted(m.Value.N, monitorUnits[m.Name]) + "."
		}
	}
	if m.Open != nil {
		r.Alarm, r.State = true, "drift: "+m.Open.Direction()+" than the baseline"
	}
	return r
}

// odds writes an e-value as people say it.
func odds(log float64) string {
	switch {
	case log > math.Log(1e6):
		return "over 1,000,000 : 1"
	case log >= math.Log(10):
		return fmt.Sprintf("%.0f : 1", math.Exp(log))
	}
	return fmt.Sprintf("%.2g : 1", math.Exp(log))
}

func alarmMarker(name string, a store.DriftAlarm, lead bool) views.DriftMarker {
	m := views.DriftMarker{At: a.OpenedAt, ID: a.ID, What: monitorWords[a.Monitor][0] + " " + a.Direction() + " than the baseline", State: "open"}
	if a.Told {
		m.Effect = shift(a.Found - a.Baseline)
		m.Note = fmt.Sprintf("%.2f after %.2f, from %s; evidence %s", a.Found, a.Baseline, counted(a.N, monitorUnits[a.Monitor]), odds(math.Log(a.EValue)))
	} else {
		m.Note = "Its figures are kept while evaluations wait blind that you may be asked about."
	}
	switch {
	case a.ClosedAt != nil:
		m.State = fmt.Sprintf("closed by %s on %s: %s", a.ClosedBy, dayText(*a.ClosedAt), a.CloseReason)
	case lead:
		m.CloseAction = calibrationPath(name) + "/alarms/" + a.ID + "/close"
	}
	return m
}

// shift writes a difference with its sign.
func shift(v float64) string {
	if v < 0 {
		return fmt.Sprintf("−%.2f", -v)
	}
	return fmt.Sprintf("+%.2f", v)
}

// versionMarkers are the other versions and models that begin to be labelled after
// this one. The effect compares kappa where both have labels enough; the items differ.
func versionMarkers(r calibration.Report, all []calibration.Report) (markers []views.DriftMarker) {
	for _, o := range all {
		same := o.Model == r.Model && o.PromptVersion == r.PromptVersion
		if same || o.FirstAt == nil || r.FirstAt != nil && o.FirstAt.Before(*r.FirstAt) {
			continue
		}
		m := views.DriftMarker{At: *o.FirstAt, What: "Labels of " + o.Model + ", prompt " + o.PromptVersion[:min(8, len(o.PromptVersion))] + " begin",
			Note: "Another model or prompt is another judge: they are not in this line."}
		if o.Headline && r.Headline && defined(o.CohenKappa.Estimate) && defined(r.CohenKappa.Estimate) {
			m.Effect = shift(o.CohenKappa.Value-r.CohenKappa.Value) + " kappa"
		}
		markers = append(markers, m)
	}
	return markers
}

func defined(e agreement.Estimate) bool { return e.Defined() }

// letter orders markers by time and names them.
func letter(markers []views.DriftMarker) {
	slices.SortStableFunc(markers, func(a, b views.DriftMarker) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.What, b.What)) })
	for i := range markers {
		markers[i].Letter = string(rune('A' + i%26))
		if i >= 26 {
			markers[i].Letter += fmt.Sprint(i / 26)
		}
	}
}

// onDrawing are the markers as marks on a drawing of these points.
func onDrawing(points []views.TrendPoint, markers []views.DriftMarker) (marks []views.VersionChange) {
	if len(points) < 2 {
		return nil
	}
	first, last := points[0].Until, points[len(points)-1].Until
	for _, m := range markers {
		if !m.At.Before(first) && !m.At.After(last) {
			marks = append(marks, views.VersionChange{Letter: m.Letter, At: m.At})
		}
	}
	return marks
}

// undelivered says that the newest messages to another system did not arrive.
func (s *Server) undelivered(c echo.Context) (string, error) {
	all, err := s.cfg.Store.Deliveries(c.Request().Context(), user(c).Actor(), 20)
	for _, d := range all {
		switch {
		case !d.DeliveredAt.IsZero():
			return "", err // what came after it was not tried yet
		case d.LastError == "":
			continue
		case d.NextAt.IsZero():
			return fmt.Sprintf("After %s the message of %s was given up: %s. Check the address and the secret; the alarm itself is on the page of its judge.",
				counted(d.Attempts, "try", "tries"), dayText(d.CreatedAt), d.LastError), err
		}
		return fmt.Sprintf("After %s: %s. It is sent again. Check the address and the secret.", counted(d.Attempts, "try", "tries"), d.LastError), err
	}
	return "", err
}

// driftOpen are the judges with open alarms, by name.
func (s *Server) driftOpen(c echo.Context, project string) (open []views.DriftOpen, err error) {
	by, err := s.cfg.Store.OpenDriftByJudge(c.Request().Context(), user(c).Actor(), project)
	for name, n := range by {
		open = append(open, views.DriftOpen{Judge: name, Href: calibrationPath(name), N: n})
	}
	slices.SortFunc(open, func(a, b views.DriftOpen) int { return cmp.Compare(a.Judge, b.Judge) })
	return open, err
}

package views_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/htmlcheck"
	"github.com/countersign/countersign/views/invisible"
)

// hostile tries to leave every kind of place that a text can stand in.
const hostile = `"'></textarea></pre></title></script><script>pwned()</script><img src=x onerror="pwned()"> onload=" javascript:pwned()` + "\u202e\u2066\u200b\ufeff\u200d\x07\x1b\u0085\U000e0041Z\u0335\u0335\u0335\u0335\u0335\u0335\u0335\u0335\u0335\u0335"

// fill puts a text into every string that a page struct can hold, and makes
// every list and pointer hold something, so that all of the page is drawn.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(2)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Interface: // a workbench: see hostileBenches
	case reflect.Slice:
		switch v.Type() {
		case reflect.TypeFor[[]views.Segment]():
			var list []views.Segment
			for _, k := range []views.SegmentKind{views.Plain, views.Claim, views.ClaimHere, views.Cite, views.CiteExact, views.CiteNear, views.CiteNone, views.Marked, views.Near, views.Omitted, views.Replaced, views.Added, views.Boxed, views.Back, views.Far, views.Violation, views.SegmentKind(text)} {
				list = append(list, views.Segment{Text: text, Kind: k, Ref: text})
			}
			v.Set(reflect.ValueOf(list))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), text)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(now))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	default:
		panic("fill: a page struct holds a " + v.Kind().String())
	}
}

// filled draws a page whose every text is hostile; set then changes what must
// be something else for the part in question to be drawn.
func filled[T any](draw func(T) templ.Component, set ...func(*T)) templ.Component {
	var p T
	fill(reflect.ValueOf(&p).Elem(), hostile)
	for _, s := range set {
		s(&p)
	}
	return draw(p)
}

func hostilePages() []samplePage {
	pages := []samplePage{
		{"login", filled(views.Login)}, {"overview", filled(views.Overview)}, {"queue", filled(views.Queue)},
		{"evaluation", filled(views.Evaluation, func(p *views.EvaluationPage) { p.Sealed = false })},
		{"evaluation sealed", filled(views.Evaluation)},
		{"evaluations", filled(views.Evaluations, func(p *views.EvaluationsPage) { p.Rows[0].Sealed = false })},
		{"trace", filled(views.Trace, func(p *views.TracePage) { p.Sealed = false })},
		{"runs", filled(views.Runs)}, {"run", filled(views.Run)},
		{"run told", filled(views.Run, func(p *views.RunPage) { p.Money.TooFew, p.Money.Rows[0].TooFew = false, false })},
		{"judges", filled(views.Judges, func(p *views.JudgesPage) { p.Rows[0].Health.Untold = 0 })},
		{"judge", filled(views.Judge, func(p *views.JudgePage) { p.Lost = false })}, {"judge lost", filled(views.Judge)},
		{"health", filled(views.JudgeHealth, func(p *views.HealthPage) { p.Total.Untold, p.Days[0].Untold = 0, 0 })}, {"health of few", filled(views.JudgeHealth, func(p *views.HealthPage) { p.Total.Evaluations, p.Days[0].Evaluations = 0, 0 })},
		{"rerun", filled(views.Rerun, func(p *views.RerunPage) { p.Estimate.NoModel = false })}, {"rerun by rules", filled(views.Rerun)},
		{"policy", filled(views.Policy)}, {"policy old", filled(views.Policy, func(p *views.PolicyPage) { p.Conflict, p.Version = nil, 1 })},
		{"policy yaml", filled(views.Policy, func(p *views.PolicyPage) { p.FaultsIn = "yaml" })}, {"policy fields", filled(views.Policy, func(p *views.PolicyPage) { p.FaultsIn = "fields" })},
		{"calibration index", filled(views.CalibrationIndex)}, {"calibration", filled(views.Calibration)},
		{"audit", filled(views.Audit)}, {"audit broken", filled(views.Audit, func(p *views.AuditPage) { p.Check.Whole = false })},
		{"error", filled(views.Error)}, {"preferences", filled(views.Preferences)}, {"help", filled(views.Help)}, {"import", filled(views.Import)},
	}
	for _, s := range deskStates {
		pages = append(pages, samplePage{"desk " + string(s), filled(views.Desk, func(p *views.DeskPage) { p.State, p.Sealed = s, false })})
		for _, bench := range hostileBenches() {
			name := fmt.Sprintf("desk %s %T", s, bench)
			pages = append(pages, samplePage{name, filled(views.Desk, func(p *views.DeskPage) { p.State, p.Sealed, p.Bench = s, false, bench })})
		}
	}
	return pages
}

// hostileBenches are all workbenches, every text of them hostile.
func hostileBenches() []views.Bench {
	reference, logic := &views.ReferenceBench{}, &views.LogicBench{}
	benches := []views.Bench{&views.GenericBench{}, &views.CitationsBench{}, &views.StepsBench{}, reference, logic}
	for _, b := range benches {
		fill(reflect.ValueOf(b).Elem(), hostile)
	}
	run := reference.Reference[0]
	for _, kind := range []views.DiffKind{views.DiffSame, views.DiffDeleted, views.DiffAdded, views.DiffGap, views.DiffFolded, views.DiffLeftOut, views.DiffNumber} {
		run.Kind = kind
		reference.Reference = append(reference.Reference, run)
	}
	logic.Own[0].Locked = false // to be changed
	for _, v := range logic.Dimensions[0].Violations {
		for _, where := range []views.Match{views.MatchExact, views.MatchNear, views.MatchNotFound, views.MatchNoQuote} {
			v.Where = where
			logic.Loose = append(logic.Loose, v)
		}
	}
	inside := &views.CitationsBench{} // what is inside is on the page
	fill(reflect.ValueOf(inside).Elem(), hostile)
	for i := range inside.Units {
		inside.Units[i].PageHref = ""
	}
	inside.Sources[0].Href = ""
	benches = append(benches, inside)
	return benches
}

// What a trace, a person or a judge wrote is text on every page.
func TestHostileTextStaysText(t *testing.T) {
	for _, p := range hostilePages() {
		t.Run(p.name, func(t *testing.T) {
			doc := render(t, p.page)
			check(t, doc, htmlcheck.None(`script:not([src^="/static/"])`), htmlcheck.None("img"), htmlcheck.None("iframe"), htmlcheck.None("style"),
				handlersInline, addressesHarmless,
				htmlcheck.In("body", htmlcheck.Contains(`<script>pwned()</script>`)))
		})
	}
}

// Characters that cannot be seen are seen on every page, as the server sends it.
func TestHostileTextIsSeen(t *testing.T) {
	for _, p := range hostilePages() {
		t.Run(p.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := p.page.Render(t.Context(), &b); err != nil {
				t.Fatal(err)
			}
			doc, err := html.Parse(bytes.NewReader(invisible.Show(b.Bytes())))
			if err != nil {
				t.Fatal(err)
			}
			check(t, doc, htmlcheck.Each(`bdi.control[data-name="U+202E"]`, htmlcheck.Attr("role", "img")), htmlcheck.None(`script:not([src^="/static/"])`), htmlcheck.None("img"), handlersInline)
			var walk func(n *html.Node)
			walk = func(n *html.Node) {
				if n.Type == html.TextNode && strings.ContainsAny(n.Data, "\u202e\u2066\u200b\ufeff\u200d\x07\x1b\u0085\U000e0041") {
					t.Errorf("<%s> holds unseen characters: %.80q", n.Parent.Data, n.Data)
				}
				if n.Type == html.ElementNode && (n.Data == "textarea" || n.Data == "script" || n.Data == "bdi") {
					return // what a person typed stays as it is; and what is marked
				}
				for c := n.FirstChild; c != nil; c = c.NextSibling {
					walk(c)
				}
			}
			walk(doc)
		})
	}
}

// addressesHarmless wants every address to be one that runs nothing.
func addressesHarmless(n *html.Node) error {
	for _, el := range htmlcheck.All(n, "[href], [src], [action], [formaction]") {
		for _, a := range el.Attr {
			switch a.Key {
			case "href", "src", "action", "formaction":
				if strings.HasPrefix(strings.TrimSpace(strings.ToLower(a.Val)), "javascript:") {
					return fmt.Errorf("<%s %s=%q> runs a script", el.Data, a.Key, a.Val)
				}
			}
		}
	}
	return nil
}

// An address that would run a script is not one, wherever the caller took it from.
func TestScriptAddressesAreRefused(t *testing.T) {
	const bad = "javascript:pwned()"
	p := views.QueuePage{Frame: frame("Queue", views.TabQueue), Rows: queueRows(), Paging: views.Paging{NextHref: bad, FirstHref: bad}}
	p.Rows[0].Href = bad
	check(t, render(t, views.Queue(p)), addressesHarmless)
	d := desk(views.DeskVisible)
	d.ID = bad
	check(t, render(t, views.Desk(d)), addressesHarmless)
}

// An address inside a trace or a source is text and not a link.
func TestAddressesOfSourcesAreText(t *testing.T) {
	for _, p := range []samplePage{{"desk", views.Desk(logicDesk())}, {"desk-blind", views.Desk(desk(views.DeskBlind))}, {"evaluation", views.Evaluation(evaluationPage())}} {
		doc := render(t, p.page)
		check(t, doc, htmlcheck.In("main .address", htmlcheck.Contains("https://")), linksStay)
	}
}

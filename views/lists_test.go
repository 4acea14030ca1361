package views_test

import (
	"testing"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/htmlcheck"
)

func queuePage(rows int) templ.Component {
	p := views.QueuePage{Frame: frame("Queue", views.TabQueue), Open: rows}
	for i := range rows {
		p.Rows = append(p.Rows, queueRows()[i%4])
	}
	return views.Queue(p)
}

func TestFrame(t *testing.T) {
	f := frame("Help", views.TabQueue)
	f.Theme, f.Density, f.Shortcuts, f.Flash = "dark", "compact", false, views.Notice{Kind: views.NoticeBad, Title: "Not saved", Text: "The disk is full."}
	check(t, render(t, views.Help(views.HelpPage{Frame: f})),
		htmlcheck.In("html", htmlcheck.Attr("data-theme", "dark"), htmlcheck.Attr("data-density", "compact"), htmlcheck.Attr("data-shortcuts", "off")),
		htmlcheck.In("main [role=alert]", htmlcheck.Text("Not saved The disk is full.")),
		htmlcheck.Count(".mainnav [aria-current=page]", 1), htmlcheck.In(".mainnav [aria-current=page]", htmlcheck.Attr("href", "/queue"), htmlcheck.Text("Queue , open items: 128")),
		htmlcheck.Count(".mainnav a", 7), htmlcheck.In("form[action='/preferences/theme'] [name=theme]", htmlcheck.Attr("value", "light")),
		htmlcheck.In("form#claim-next", htmlcheck.Attr("action", "/queue/next"), htmlcheck.Attr("method", "post")))

	f = frame("Help", "")
	f.MayReview, f.Theme, f.Tabs = false, "", []views.Tab{views.TabAudit}
	check(t, render(t, views.Help(views.HelpPage{Frame: f})),
		htmlcheck.None("html[data-theme]"), htmlcheck.None("#claim-next"), htmlcheck.None("[aria-current]"), htmlcheck.Count(".mainnav a", 1), htmlcheck.In(".mainnav a", htmlcheck.Text("Audit log"), htmlcheck.Attr("href", "/audit")))

	f.Person, f.Demo = "", false
	check(t, render(t, views.Error(views.ErrorPage{Frame: f})), htmlcheck.None(".mainnav"), htmlcheck.None("form"), htmlcheck.None(".demo-mark"))
}

func TestLogin(t *testing.T) {
	f := frame("Sign in", "")
	f.Person = ""
	check(t, render(t, views.Login(views.LoginPage{Frame: f, Email: "a@b", Fault: "No match.", Next: "/queue"})),
		htmlcheck.In("form", htmlcheck.Attr("action", "/login"), htmlcheck.Attr("method", "post")), htmlcheck.In("[name=email]", htmlcheck.Attr("value", "a@b")),
		htmlcheck.In("[name=password]", htmlcheck.Attr("aria-invalid", "true"), htmlcheck.Attr("aria-describedby", "password-fault")), htmlcheck.In("#password-fault", htmlcheck.Text("No match.")),
		htmlcheck.In("[name=next]", htmlcheck.Attr("value", "/queue")), htmlcheck.None("[name=password][value]"))
}

func TestQueue(t *testing.T) {
	doc := render(t, views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue), Rows: queueRows(), Open: 1128, Overdue: 3, Paging: views.Paging{NextHref: "/queue?after=x", FirstHref: "/queue"},
		Filter: views.QueueFilter{Judges: []views.Choice{{Value: "logic", Text: "Logic"}}, Judge: "logic", States: []views.Choice{{Value: "free", Text: "Unclaimed"}}, State: "free", Overdue: true}}))
	check(t, doc, htmlcheck.In(".page-head", htmlcheck.Contains("1,128 open, 3 overdue")), htmlcheck.Count("tbody tr", 4),
		htmlcheck.In("select[name=judge] [selected]", htmlcheck.Attr("value", "logic")), htmlcheck.In("select[name=state] [selected]", htmlcheck.Attr("value", "free")), htmlcheck.In("[name=overdue]", htmlcheck.Attr("checked", "")), htmlcheck.None("[name=item]"), htmlcheck.None(".bulk"),
		htmlcheck.In("a[rel=next]", htmlcheck.Attr("href", "/queue?after=x")), htmlcheck.In("tbody tr", htmlcheck.Contains("Overdue by 35 min"), htmlcheck.Contains("Lawyer B"), htmlcheck.Contains("5 min left")),
		htmlcheck.In("tbody tr:nth-child(2)", htmlcheck.Contains("Reasons sealed"), htmlcheck.Contains("You"), htmlcheck.Contains("Due 12:00, in 1 h 20 min")), htmlcheck.In("tbody tr:nth-child(3)", htmlcheck.Contains("Free")),
		htmlcheck.Count("button[form=claim-next]", 1))
	check(t, render(t, views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue)})), htmlcheck.None("table"), htmlcheck.In(".empty", htmlcheck.Contains("Nothing waits for a person")))
	check(t, render(t, views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue), Filtered: true})), htmlcheck.In(".empty", htmlcheck.Contains("No item matches these filters")))
	rows := queueRows()
	rows[1].Selected, rows[2].SetPriority, rows[2].Priority, rows[3].Assigned = true, true, 1, "Lawyer B"
	check(t, render(t, views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue), Rows: rows, MayChange: true, Filters: "judge=logic",
		Tabs:  []views.QueueTab{{Text: "All open", Href: "/queue", Count: 1000, More: true, Current: true}, {Text: "Blind", Href: "/queue?blind=yes", Count: 3}},
		Views: []views.SavedView{{ID: "v1", Name: "Late law", Href: "/queue?domain=legal", Shared: true, Owner: "Lead C", MayDelete: true}},
		Fault: views.QueueFault{Title: "Nothing was changed", Text: "1 item stands in the way.", Items: []views.RefusedItem{{Href: "/reviews/x", Title: "T", TraceID: "t1", Why: "It is decided."}}}})),
		htmlcheck.Count("[name=item]", 4), htmlcheck.Count("[name=item][checked]", 1), htmlcheck.In("tbody tr:nth-child(3) .priority.set", htmlcheck.Text("P1")), htmlcheck.In("tbody tr:nth-child(4)", htmlcheck.Contains("for Lawyer B")),
		htmlcheck.In("form:has(.bulk)", htmlcheck.Attr("action", "/queue/change?judge=logic")), htmlcheck.In(".tabs [aria-current]", htmlcheck.Text("All open 1,000+")), htmlcheck.In("[role=alert]", htmlcheck.Contains("t1: It is decided.")),
		htmlcheck.In(`form[action="/queue/views/v1/delete"]`, htmlcheck.Contains("shared by Lead C")))
}

func TestMyWork(t *testing.T) {
	p := views.MyWorkPage{Frame: frame("My work", views.TabQueue), Waiting: 5, Why: []views.WhyLine{{N: 3, Text: "held by somebody else"}, {N: 2, Text: "skipped by you today", Href: "/queue?state=skipped"}}}
	check(t, render(t, views.MyWork(p)), htmlcheck.In(".why li", htmlcheck.Text("3 held by somebody else")), htmlcheck.In(".why a", htmlcheck.Attr("href", "/queue?state=skipped")), htmlcheck.In("#why", htmlcheck.Contains("5 items wait, and none")))
	p.Waiting, p.Why = 0, nil
	check(t, render(t, views.MyWork(p)), htmlcheck.In("#why", htmlcheck.Contains("Nothing waits for a person")))
	p.Next, p.Held, p.Assigned, p.Today = &views.NextItem{Title: "N"}, queueRows()[:1], queueRows()[1:], views.Week{Decisions: 3, Overridden: 1, MedianSeconds: 90}
	check(t, render(t, views.MyWork(p)), htmlcheck.None("#why"), htmlcheck.Count("tbody tr", 4), htmlcheck.In(".page-head", htmlcheck.Contains("You hold 1 item, and 3 more are assigned to you.")))
}

func TestOverview(t *testing.T) {
	check(t, render(t, views.Overview(views.OverviewPage{Frame: frame("Overview", views.TabOverview), Greeting: "Today"})),
		htmlcheck.In(".empty", htmlcheck.Contains("There is nothing to judge yet"), htmlcheck.Contains("countersign import")), htmlcheck.None("table"))
	check(t, render(t, views.Overview(views.OverviewPage{Frame: frame("Overview", views.TabOverview), Evaluations: 3, SealedCount: 31, SealedHref: "/queue?lead=sealed", ShowHealth: true, Health: []views.CalibrationRow{calibrationRow("logic", false)}})),
		htmlcheck.In(".empty", htmlcheck.Contains("Nothing is waiting for you")), htmlcheck.In("table", htmlcheck.Contains("Sealed until you answer 31")), htmlcheck.In("main", htmlcheck.Contains("Not enough labels")), htmlcheck.None(".whisker .dot"))
}

func TestCalibration(t *testing.T) {
	row := calibrationRow("citations", true)
	s := views.CalibrationSeries{CalibrationRow: row, Scale: "labels", Labels: []string{"accurate", "partial", "inaccurate"}, Matrix: [][]int{{84, 8, 2}, {9, 34, 7}, {3, 9, 56}}}
	check(t, render(t, views.Calibration(views.CalibrationPage{Frame: frame("c", views.TabCalibration), Judge: "citations", Series: []views.CalibrationSeries{s}})),
		htmlcheck.In(".hero", htmlcheck.Text("κ 0.72")), htmlcheck.In(".prose", htmlcheck.Text("It said what people said on 174 of 212. It called 96 “accurate”; people called 3 of them “inaccurate”. Of the 68 that people called “inaccurate” it found 56.")),
		htmlcheck.Count(".matrix .agree", 3), htmlcheck.Count(".matrix .worst", 1), htmlcheck.In(".matrix .worst", htmlcheck.Text("3 4%")), htmlcheck.In(".matrix tbody tr", htmlcheck.Text("Person: accurate 84 89% 8 9% 2 2% 94")),
		htmlcheck.In(".matrix tbody tr:last-child", htmlcheck.Text("All 96 51 65 212")), htmlcheck.In(".pairs", htmlcheck.Contains("0.72, 95% 0.64 to 0.80, SE 0.041 (atanh)")), htmlcheck.Count("svg.whisker .dot", 1))
	// Too few labels: counts and no kappa, even if the caller computed one.
	few := s
	few.Enough, few.N = false, 20
	check(t, render(t, views.Calibration(views.CalibrationPage{Frame: frame("c", views.TabCalibration), Series: []views.CalibrationSeries{few}})),
		htmlcheck.In(".hero", htmlcheck.Text("Not enough labels")), htmlcheck.None("svg.whisker .dot"), htmlcheck.In(".pairs", htmlcheck.Contains("not enough labels for a headline")))
	// A matrix with a row missing counts what is there and does not panic.
	ragged := s
	ragged.Matrix = [][]int{{1}}
	check(t, render(t, views.Calibration(views.CalibrationPage{Frame: frame("c", views.TabCalibration), Series: []views.CalibrationSeries{ragged}})), htmlcheck.In(".matrix tbody tr:last-child", htmlcheck.Text("All 1 0 0 1")))
}

func TestAudit(t *testing.T) {
	page := func(c views.AuditCheck) views.AuditPage {
		return views.AuditPage{Frame: frame("Audit log", views.TabAudit), Check: c}
	}
	check(t, render(t, views.Audit(page(views.AuditCheck{Done: true, Whole: true, Events: 1284, Head: "abc", At: now}))), htmlcheck.In("main [role=status]", htmlcheck.Contains("The chain is whole"), htmlcheck.Contains("1,284 events")))
	check(t, render(t, views.Audit(page(views.AuditCheck{Done: true, BrokenAt: 1279, Fault: "Its hash does not match its content."}))), htmlcheck.In("main [role=alert]", htmlcheck.Contains("The chain breaks at event 1,279"), htmlcheck.Contains("Its hash does not match")))
	check(t, render(t, views.Audit(page(views.AuditCheck{}))), htmlcheck.In(".notice", htmlcheck.Contains("was not checked")), htmlcheck.None("main [role=alert]"))
}

func TestImport(t *testing.T) {
	check(t, render(t, views.Import(views.ImportPage{Frame: frame("Import", ""), MaxBytes: 64 << 20, Result: &views.ImportResult{File: "t.jsonl", New: 40, Faults: []views.ImportFault{{Line: 12, Field: "output", Text: "is missing"}}, MoreFaults: 3}})),
		htmlcheck.In("form[action='/import']", htmlcheck.Attr("enctype", "multipart/form-data"), htmlcheck.In("[type=file][name=file]")), htmlcheck.In("caption", htmlcheck.Text("4 lines were not imported")),
		htmlcheck.In("tbody tr", htmlcheck.Text("12 output is missing")), htmlcheck.In("#file-note", htmlcheck.Contains("At most 64 MiB")))
}

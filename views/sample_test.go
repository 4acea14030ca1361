package views_test

import (
	"time"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
)

// Fictional content for tests, in the shape that web would fill.

var now = time.Date(2026, 7, 14, 10, 40, 0, 0, time.UTC)

func ptr(f float64) *float64 { return &f }

func frame(title string, tab views.Tab) views.Frame {
	return views.Frame{
		Title: title, Person: "Physician A", Role: "Reviewer", Current: tab,
		Tabs:       []views.Tab{views.TabOverview, views.TabQueue, views.TabEvaluations, views.TabRuns, views.TabJudges, views.TabCalibration, views.TabAudit},
		QueueCount: 128, MayReview: true, Project: "default", Projects: []string{"default", "pilot"},
		Shortcuts: true, CSRF: "token-1", Path: "/", Demo: true, Version: "0.1", Now: now,
	}
}

func sampleTrace() views.TraceText {
	return views.TraceText{
		Question: "A 78-year-old woman weighing 71 kg has non-valvular atrial fibrillation and hypertension. Her serum creatinine is 148 micromol/L. What dose of apixaban should she have, and what needs monitoring?",
		Steps: []views.Step{
			{N: 1, Segments: []views.Segment{
				{Text: "She is 78, a woman, and has hypertension, so her score is 4. "},
				{Text: "The formulary says to “offer anticoagulation to people with a score of 2 or more”.", Kind: views.ClaimHere, Ref: "1"},
				{Text: " "}, {Text: "[1]", Kind: views.CiteExact, Ref: "1"},
			}},
			{N: 2, Segments: []views.Segment{
				{Text: "The monograph states that “in patients with serum creatinine of 133 micromol/L or more, the recommended dose is 2.5 mg taken twice daily”.", Kind: views.Claim, Ref: "2"},
				{Text: " "}, {Text: "[2]", Kind: views.CiteNear, Ref: "2"},
				{Text: " Her creatinine is 148, so the lower dose applies."},
			}},
			{N: 3, Segments: []views.Segment{
				{Text: "A cohort of 4,112 older adults found that the reduced dose halved major bleeding.", Kind: views.Claim, Ref: "3"},
				{Text: " "}, {Text: "[5]", Kind: views.CiteNone, Ref: "3"},
				{Text: " This supports the lower dose."}, {Text: "[2]", Kind: views.Cite, Ref: "4"},
			}},
		},
		Answer: views.Text("Apixaban 2.5 mg twice daily. Recheck creatinine every three months."),
	}
}

func proposal() *views.Proposal {
	return &views.Proposal{
		Mark:     views.Mark{Verdict: judge.Borderline, Label: "partial", Score: ptr(0.72)},
		Critical: true, Engine: "openai", Model: "larch-2", Summary: "Two of four citations carry their claims.",
		Findings: []judge.Finding{{Step: 3, Citation: 3, CitationID: "5", Class: "citation_not_found", Severity: "critical", Quote: "A cohort of 4,112 older adults", Explanation: "There is no source with this id."}},
		Checks:   []judge.CheckResult{{Name: "citations.covered", Kind: judge.Hard, OK: true}, {Name: "quote.agrees", Kind: judge.Soft, OK: false, Detail: "citation 2: near match, distance 22 words"}},
		Report:   "{\n  \"overall_citation_accuracy_score\": 0.72\n}", Attempts: 2, Repairs: 1,
	}
}

func desk(state views.DeskState) views.DeskPage {
	p := views.DeskPage{
		Frame: frame("Apixaban dose in reduced renal function", views.TabQueue), ID: "rv-4821", State: state,
		EvaluationID: "ev-20931", TraceID: "med-0118", ItemTitle: "Apixaban dose in reduced renal function", Judge: "citations",
		PromptVersion: "4be1c2d09f7788aa0011223344556677889900aabbccddeeff0011223344556677", Run: "renal-dosing-12", Domain: "medical", Stakes: judge.HighStakes,
		Due:   now.Add(80 * time.Minute),
		Draft: views.DraftMark{Key: "draft-rv-4821-u1"}, Bar: views.DeskBar{Confirmable: true},
		LeaseSeconds: 1450, LeaseTotal: 1800, Trace: sampleTrace(), Bench: sampleCitations(),
		Inputs:      []views.Input{{Name: "Constraints", Items: []views.InputItem{{Text: views.Text("Doses in mg; the formulary of 2026 applies.")}, {Text: views.Text("No off-label use.")}}}},
		Labels:      []views.Choice{{Value: "accurate", Text: "Accurate"}, {Value: "partial", Text: "Partial"}, {Value: "inaccurate", Text: "Inaccurate"}},
		ReasonCodes: []views.Choice{{Value: "context_misread", Text: "Context misread"}, {Value: "other", Text: "Other, explained below"}},
		History:     []views.Event{{At: now.Add(-2 * time.Hour), Who: "import", What: "Trace received", Hash: "c05d1122334455667788993f9b"}, {At: now.Add(-9 * time.Minute), ByPerson: true, Who: "Physician A", What: "Claimed"}},
	}
	switch state {
	case views.DeskBlind:
		p.Sealed, p.HistorySealed = true, true
	case views.DeskOpen, views.DeskReadOnly, views.DeskExpired:
		p.Sealed, p.LeaseSeconds = true, 0
	case views.DeskLost:
		p.Sealed, p.Holder, p.HolderUntil = true, "Physician E", now.Add(20*time.Minute)
	case views.DeskRevealed:
		p.Own = &views.Answer{Mark: views.Mark{Verdict: judge.Fail, Label: "inaccurate"}, At: now.Add(-time.Minute)}
		p.Proposal = proposal()
	case views.DeskAdjudication:
		p.Proposal = proposal()
		p.Earlier = []views.Signature{signature(false), {Name: "Physician E", Role: "Reviewer", Action: "confirm", Mark: views.Mark{Verdict: judge.Borderline}, At: now.Add(-3 * time.Hour)}}
	case views.DeskDecided, views.DeskLate:
		s := signature(true)
		p.Signed, p.Proposal, p.Answered = &s, proposal(), state == views.DeskDecided
	default:
		p.Proposal = proposal()
	}
	if !p.Sealed {
		p.Reasons = []judge.Reason{{Code: judge.ReasonCriticalError, Detail: "citation 3 is flagged critical"}, {Code: judge.ReasonAmbiguousScore, Detail: "0.72 lies between 0.60 and 0.80"}}
	}
	return p
}

func signature(final bool) views.Signature {
	return views.Signature{Name: "Physician A", Role: "Reviewer", Action: "override", Mark: views.Mark{Verdict: judge.Fail, Label: "inaccurate"}, ReasonCode: "context_misread",
		Comment: "The monograph requires two criteria. She meets one, so the dose is 5 mg.", Confidence: "high", Blind: true, Seconds: 893, At: now.Add(-time.Minute), Final: final}
}

// logicDesk is the general desk, for a judge without citations.
func logicDesk() views.DeskPage {
	p := desk(views.DeskVisible)
	p.Judge, p.Bench = "logic", nil
	p.Trace.Steps = []views.Step{
		{N: 1, Segments: views.Text("The debt fell due on 1 March 2018, and six years ran from then.")},
		{N: 2, Segments: []views.Segment{{Text: "The debtor wrote on 4 May 2024, "}, {Text: "so time starts again", Kind: views.Violation}, {Text: "."}}},
	}
	p.Inputs = []views.Input{
		{Name: "Premises", Items: []views.InputItem{{Text: views.Text("A debt on simple contract is barred after six years.")}, {Text: views.Text("A barred right is not revived by a later acknowledgment.")}}},
		{Name: "Sources", Items: []views.InputItem{{Heading: "Limitation Act 1980, section 29", Address: "https://law.example/1980/58/29", Text: views.Text("A current period of limitation may be repeatedly extended…")}}},
		{Name: "Reference", Items: []views.InputItem{{Text: views.Text("The claim is barred.\n\nSection 29(7) excludes revival.")}}},
	}
	p.Proposal.Findings = []judge.Finding{{Step: 2, Dimension: "inference_rule_adherence", Class: "affirming_the_consequent", Severity: "major", Quote: "so time starts again", Explanation: "The premise says the opposite."}}
	p.Form = views.DeskForm{Action: "override", Verdict: judge.Fail, CommentFault: "An override needs a comment.", ReasonFault: "Choose a reason code.", Confidence: "medium"}
	return p
}

// calibrationFigures have every part, among them what is undefined.
func calibrationFigures() views.CalibrationFigures {
	value, low, high := .72, .64, .80
	whole := views.Estimate{Value: &value, Low: &low, High: &high, Method: "Wilson"}
	row := views.FigureRow{Name: "Sensitivity", Kind: "Domain", Note: "Of what people fail, the share the judge fails", N: 212, Figure: whole, Counted: true}
	none := views.FigureRow{Name: "Law", N: 12, Figure: views.Estimate{Why: "not enough labels: 12 of at least 30"}}
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	return views.CalibrationFigures{
		Lead: "Of 100 traces people call bad, the judge catches about 75 (66–82).", Warning: "All labels are of traces that were picked.",
		Said:  []views.SaidFigure{{Sentence: "Kappa is 0.72.", Method: "Interval: Fisher’s z."}},
		Rates: []views.FigureRow{row}, Seen: []views.FigureRow{row, none}, SeenLine: "That may be chance.",
		PassRates: []views.FigureRow{row}, PassLine: "The judge passes 77 of 100.",
		Coverage: []views.CoverageRow{{Verdict: "pass", Evaluations: 1000, Labelled: 50, Represents: "1000"}, {Verdict: "fail", Evaluations: 3}}, CoverageLine: "All said.",
		Slices: []views.FigureRow{row, none}, Bands: []views.FigureRow{row},
		Trend:   []views.TrendPoint{{Until: at, N: 60, Kappa: whole}, {Until: at.AddDate(0, 0, 7), N: 3, Kappa: none.Figure}, {Until: at.AddDate(0, 0, 14), N: 70, Kappa: whole}},
		Changes: []views.VersionChange{{Letter: "A", At: at.AddDate(0, 0, 8)}},
		Drift: &views.Drift{Frame: frame("", ""), Model: "larch-2", Version: "v7", FreezeAction: "/calibration/citations/baseline", Again: true,
			Line: "Held against a baseline of 2 March 2026, frozen by Lead C.", FreezeNote: "A new baseline takes what was seen until now as normal.",
			Rows: []views.DriftRow{
				{Name: "Agreement with people", Sentence: "Of labels drawn at random.", Baseline: whole, Now: whole, Evidence: "2,310 : 1", Alarm: true, State: "drift: lower than the baseline"},
				{Name: "Mean score", Sentence: "Of all scores.", Baseline: views.Estimate{Why: "not told"}, Now: views.Estimate{Why: "Not told: evaluations wait blind"}, State: "watched"},
			},
			Markers: []views.DriftMarker{
				{Letter: "A", At: at.AddDate(0, 0, 8), What: "Labels of larch-3 begin", Note: "Another model is another judge."},
				{Letter: "B", At: at.AddDate(0, 0, 12), What: "Agreement with people lower than the baseline", Note: "0.71 after 0.93", Effect: "−0.22", State: "open", CloseAction: "/calibration/citations/alarms/01J/close"},
			},
			Retest: "The sentinel set was judged 3 times."},
		Differences: []views.DifferenceRow{{Href: "/evaluations/e1", Trace: "t-1", Domain: "law", Stakes: "high", At: at,
			Judge: views.Mark{Verdict: judge.Pass, Score: &value}, Person: views.Mark{Verdict: judge.Fail, Label: "inaccurate"}}},
	}
}

func calibrationRow(name string, enough bool) views.CalibrationRow {
	r := views.CalibrationRow{Href: "/calibration/" + name, Judge: name, Model: "larch-2", Version: "4be1c2d09f7788aa0011223344556677889900aabbccddeeff0011223344556677", N: 212, Abstained: 4, Enough: enough,
		Agreement: views.Estimate{Value: ptr(0.82), Low: ptr(0.76), High: ptr(0.87), Method: "Wilson"},
		Kappa:     views.Estimate{Value: ptr(0.72), Low: ptr(0.64), High: ptr(0.80), SE: ptr(0.041), Method: "atanh"}}
	if !enough {
		r.N = 12
		r.Kappa = views.Estimate{Why: "The judge gave one class only."}
	}
	return r
}

func evaluationRow() views.EvaluationRow {
	return views.EvaluationRow{Href: "/evaluations/ev-20931", Title: "Apixaban dose in reduced renal function", TraceID: "med-0118", Run: "renal-dosing-12", Judge: "citations", Model: "larch-2", Status: judge.Final,
		Proposed: views.Mark{Verdict: judge.Borderline, Label: "partial", Score: ptr(0.72)}, Result: views.Mark{Verdict: judge.Fail}, ResultSource: judge.ByHuman,
		Reasons: []judge.Reason{{Code: judge.ReasonCriticalError}}, At: now.Add(-2 * time.Hour)}
}

func queueRows() []views.QueueRow {
	return []views.QueueRow{
		{Href: "/reviews/rv-1", Title: "Acknowledgment of a debt after six years", TraceID: "law-0796", Run: "limitation-pilot", Domain: "legal", Judge: "logic", Stakes: judge.HighStakes, Reasons: []judge.Reason{{Code: judge.ReasonCriticalError}, {Code: judge.ReasonInconsistentOutput}}, State: "claimed", Since: now.Add(-5 * time.Hour), Due: now.Add(-35 * time.Minute), Holder: "Lawyer B", Until: now.Add(5 * time.Minute)},
		{Href: "/reviews/rv-2", Title: "Apixaban dose in reduced renal function", TraceID: "med-0118", Run: "renal-dosing-12", Domain: "medical", Judge: "citations", Stakes: judge.HighStakes, Sealed: true, State: "claimed", Since: now.Add(-113 * time.Minute), Due: now.Add(80 * time.Minute), Mine: true, Holder: "Physician A", Until: now.Add(24 * time.Minute)},
		{Href: "/reviews/rv-3", Title: "Service charge: when consultation is needed", TraceID: "law-0830", Run: "leases-nightly", Domain: "legal", Judge: "reference", Stakes: judge.StandardStakes, Reasons: []judge.Reason{{Code: judge.ReasonJudgeFailed}}, State: "open", Since: now.Add(-26 * time.Hour), Due: now.Add(50 * time.Hour)},
		{Href: "/reviews/rv-4", Title: "Sum of the first hundred odd numbers", TraceID: "math-12", Judge: "steps", Stakes: judge.StandardStakes, Sealed: true, State: "adjudication", Since: now.Add(-3 * time.Hour)},
	}
}

func runRow() views.RunRow {
	return views.RunRow{Href: "/runs/renal-dosing-12", Name: "renal-dosing-12", At: now.Add(-2 * time.Hour), Traces: 412, Unjudged: 3, Evaluations: 1236, Pending: 20, Refused: 12, Waiting: 38, Failed: 3, Pass: 1010, Borderline: 31, Fail: 120, NoVerdict: 2, CostUSD: 4.2, Unpriced: 1}
}

func evaluationPage() views.EvaluationPage {
	p := proposal()
	s := signature(true)
	return views.EvaluationPage{
		Frame: frame("Evaluation ev-20931", views.TabEvaluations), ID: "ev-20931", ItemTitle: "Apixaban dose in reduced renal function", TraceID: "med-0118", TraceHref: "/traces/med-0118", Run: "renal-dosing-12", Domain: "medical", Stakes: judge.HighStakes,
		Judge: "citations", PromptVersion: "4be1c2d09f7788aa0011223344556677", Engine: "openai", Model: "larch-2", Status: judge.Final, ReviewHref: "/reviews/rv-4821", Trace: sampleTrace(),
		Inputs:   []views.Input{{Name: "Sources", Items: []views.InputItem{{Heading: "Northgate Formulary", Address: "https://northgate.example", Text: views.Text("Offer anticoagulation.")}}}},
		Proposed: p.Mark, Critical: true, Result: views.Mark{Verdict: judge.Fail, Label: "inaccurate"}, ResultSource: judge.ByHuman, Signed: &s,
		Reasons: []judge.Reason{{Code: judge.ReasonCriticalError, Detail: "citation 3"}}, Checks: p.Checks, Findings: p.Findings, Report: p.Report,
		Attempts: []views.Attempt{
			{Number: 1, Endpoint: "models.example", ModelAsked: "larch-2", ModelAnswered: "larch-2-0530", Parameters: "{\n  \"temperature\": 0\n}", Prompt: "You check citations.", Reply: "{", FinishReason: "length", Errors: []string{"the reply was cut by its length"}, PromptTokens: 6412, CompletionTokens: 4096, CostUSD: 0.0123, LatencyMS: 3100, At: now.Add(-2 * time.Hour)},
			{Number: 2, Endpoint: "models.example", ModelAsked: "larch-2", ModelAnswered: "larch-2-0530", Prompt: "You check citations.", Reply: p.Report, FinishReason: "stop", PromptTokens: 6412, CompletionTokens: 1107, CostUSD: 0.004, LatencyMS: 2700, At: now.Add(-2 * time.Hour)}},
		Labels:    []views.LabelRow{{Judge: "citations", Reviewer: "Physician A", Mark: views.Mark{Verdict: judge.Fail, Label: "inaccurate"}, Blind: true, Comment: "One criterion only.", At: now}, {Judge: "citations", Mark: views.Mark{Verdict: judge.Fail}, Imported: true, Adjudicated: true}},
		Chain:     []views.AuditRow{{Seq: 1273, At: now, Actor: "Run nightly", Action: "Trace received", Subject: "trace:med-0118", Previous: "4beedd", Hash: "a4e797"}, {Seq: 1282, At: now, Actor: "Physician A", ByPerson: true, Action: "Signed", Subject: "evaluation:ev-20931", Detail: "One criterion only.", Previous: "43cf9f", Hash: "0b43ec"}},
		Permalink: "https://desk.example/evaluations/ev-20931?trace=5b1e44aa", Decisions: []views.SignedDecision{{Signature: s, Anchor: "d1", Qualification: "MRCP", Affirmation: "I have read the item.", Wording: 1, Stated: true, Severity: "major",
			Rulings: []views.RulingRow{{Part: "Citation 3, support", Judge: "Supported", Person: "Not supported", Note: "One criterion only.", Differs: true}}, Shown: []views.ShownFact{{Name: "Trace", Value: "5b1e44aa", Hash: true}, {Name: "Policy’s version", Value: "3"}}}},
		Hashes:  judge.Hashes{Trace: "5b1e44aa5b1e44aa5b1e44aac07a", Candidate: "77b044aa5b1e44aa5b1e44aad1c4"},
		Repairs: 1, TransportRetries: 2, PromptTokens: 12824, CompletionTokens: 5203, CostUSD: 0.0163, LatencyMS: 5800, StartedAt: now.Add(-2 * time.Hour), MayRetry: true, MayRequest: true,
	}
}

// samplePage is a page of one name, filled.
type samplePage struct {
	name string
	page templ.Component
}

func samplePages() []samplePage {
	series := views.CalibrationSeries{CalibrationRow: calibrationRow("citations", true), Scale: "labels", Labels: []string{"accurate", "partial", "inaccurate"},
		Matrix: [][]int{{84, 8, 2}, {9, 34, 7}, {3, 9, 56}}, Visible: calibrationRow("citations", true),
		Pairs:    []views.HumanPair{{First: "Physician A", Second: "Physician E", N: 36, Agreement: views.Estimate{Value: ptr(0.9)}, Kappa: views.Estimate{Value: ptr(0.81), Low: ptr(0.66), High: ptr(0.93)}}},
		Sampling: []string{"160 of 212 were flagged by the judge: the figures describe flagged traces, not all of them."}}
	series.CalibrationFigures = calibrationFigures()
	few := views.CalibrationSeries{CalibrationRow: calibrationRow("citations", false), Scale: "verdicts", Labels: []string{"pass", "fail"}, Matrix: [][]int{{9, 0}, {3, 0}}}
	few.Model, few.Version = "rules", "09ce"
	series.Gating, few.Gating = gating(judge.Advisory), gating(judge.Suspended)
	sealedRow := evaluationRow()
	sealedRow.Sealed, sealedRow.Status, sealedRow.Reasons = true, judge.InReview, nil
	sealedRow.Proposed, sealedRow.Result, sealedRow.ResultSource = views.Mark{}, views.Mark{}, ""
	sealedEvaluation := evaluationPage()
	sealedEvaluation.Sealed, sealedEvaluation.Status = true, judge.InReview

	refused := frame("Sign in", "")
	refused.Person, refused.Flash = "", views.Notice{Text: "You were signed out after a day without use. Drafts are kept."}
	pages := []samplePage{
		{"login", views.Login(views.LoginPage{Frame: refused, Email: "a.osei@northgate.example", Fault: "That email and password do not match."})},
		{"overview", views.Overview(views.OverviewPage{Frame: frame("Overview", views.TabOverview), Greeting: "Tuesday 14 July", Lead: "Eleven items are assigned to you.", Open: 128, Overdue: 3, SealedCount: 31, SealedHref: "/queue?lead=sealed", Evaluations: 1236,
			Next:       &views.NextItem{Title: "Apixaban dose in reduced renal function", TraceID: "med-0118", Judge: "citations", Run: "renal-dosing-12", Stakes: judge.HighStakes, Due: now.Add(80 * time.Minute), Sealed: true},
			Reasons:    []views.ReasonCount{{Code: judge.ReasonJudgeFailed, Open: 14, Href: "/queue?reason=judge_failed"}, {Code: judge.ReasonRequested, Open: 46, Href: "/queue?reason=requested"}},
			ShowHealth: true, Health: []views.CalibrationRow{calibrationRow("citations", true), calibrationRow("logic", false)}, Runs: []views.RunRow{runRow()}, Week: &views.Week{Decisions: 43, Overridden: 7, Blind: 18, MedianSeconds: 310},
			Statuses: []views.StatusCount{{Status: judge.Accepted, Count: 1010, Href: "/evaluations?status=accepted"}, {Status: judge.InReview, Count: 38, Href: "/evaluations?status=in_review"}}})},
		{"overview-empty", views.Overview(views.OverviewPage{Frame: frame("Overview", views.TabOverview), Greeting: "Tuesday 14 July"})},
		{"queue", views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue), Rows: queueRows(), Open: 128, Overdue: 3, Paging: views.Paging{NextHref: "/queue?after=x", FirstHref: "/queue"},
			Filter: views.QueueFilter{Judges: []views.Choice{{Value: "logic", Text: "logic"}}, Judge: "logic", More: true}})},
		{"queue-empty", views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue)})},
		{"queue-filtered", views.Queue(views.QueuePage{Frame: frame("Queue", views.TabQueue), Filtered: true})},
		{"desk-logic", views.Desk(logicDesk())}, {"desk-steps", views.Desk(stepsDesk(views.DeskVisible))}, {"desk-steps-blind", views.Desk(stepsDesk(views.DeskBlind))},
		{"evaluation", views.Evaluation(evaluationPage())},
		{"evaluation-sealed", views.Evaluation(sealedEvaluation)},
		{"evaluations", views.Evaluations(views.EvaluationsPage{Frame: frame("Evaluations", views.TabEvaluations), Rows: []views.EvaluationRow{evaluationRow(), sealedRow}, Paging: views.Paging{NextHref: "/evaluations?after=x"}})},
		{"evaluations-empty", views.Evaluations(views.EvaluationsPage{Frame: frame("Evaluations", views.TabEvaluations)})},
		{"trace", views.Trace(views.TracePage{Frame: frame("Trace med-0118", views.TabEvaluations), ID: "med-0118", ItemTitle: "Apixaban dose in reduced renal function", Domain: "medical", Stakes: judge.HighStakes, Run: "renal-dosing-12", RunHref: "/runs/renal-dosing-12", Tags: []string{"dosing", "renal"}, Trace: sampleTrace(), Metadata: "{\n  \"model\": \"tarn-3\"\n}",
			Revisions: []views.Revision{{N: 2, At: now, Hash: "5b1e44aa5b1e44aac07a", Current: true}, {N: 1, At: now.Add(-time.Hour), Hash: "77b044aa5b1e44aad1c4", Href: "/traces/med-0118?revision=1"}}, Evaluations: []views.EvaluationRow{evaluationRow()}, Judges: []views.JudgeOfTrace{{Judge: "citations", Href: "/judges/citations", Word: "Judged", Evaluations: 1}, {Judge: "reference", Href: "/judges/reference", Word: "Not judged", Field: "reference", Why: "reference is missing: judge reference needs it"}, {Judge: "old", Word: "Judged", Evaluations: 1}}, Labels: evaluationPage().Labels, Hashes: judge.Hashes{Trace: "5b1e", Candidate: "77b0"}})},
		{"runs", views.Runs(views.RunsPage{Frame: frame("Runs", views.TabRuns), Rows: []views.RunRow{runRow()}})},
		{"run", views.Run(runPage())},
		{"release", views.Release(releasePage())},
		{"run-read", views.Run(views.RunPage{Frame: frame("renal-dosing-12", views.TabRuns), Run: runRow(), EvaluationsHref: "/evaluations?run=renal-dosing-12", QueueHref: "/queue?run=renal-dosing-12"})},
		{"judges", views.Judges(views.JudgesPage{Frame: frame("Judges", views.TabJudges), ShowHealth: true, Rows: []views.JudgeRow{{HealthHref: "/judges/citations/health", Health: healthPage().Total, Href: "/judges/citations", Name: "citations", Description: "Evidence citation accuracy", Version: "4be1c2d09f7788aa0011223344556677", Builtin: true, Inputs: []string{"output", "sources"}, Evaluations: 412, CalibrationHref: "/calibration/citations"}}})},
		{"judge", views.Judge(views.JudgePage{JudgeHead: judgeHead("definition"), Current: true, Counted: true, System: "You are a judge. The mark is [MARK].", Blocks: []views.JudgeBlock{{Name: "EXAMPLES", Text: "One example."}}, Version: "4be1c2d09f7788aa0011223344556677889900aabbccddeeff0011223344556677", Builtin: true, Inputs: []views.JudgeInput{{Field: "output", Required: true}, {Field: "constraints"}}, Labels: []views.JudgeLabel{{Name: "accurate", Verdict: "pass"}, {Name: "undetermined", Verdict: "borderline", Abstain: true}}, Ordinal: true, MaxRepairs: 1, BandLow: 0.6, BandPass: 0.8, Checks: []views.JudgeCheck{{Name: "citations.covered", Kind: "hard", Run: 412, Failed: 5}}, Prompt: "You check citations.\n[REASONING_TRACE]", Schema: "{\n  \"type\": \"object\"\n}", Versions: []views.JudgeVersion{{Version: "4be1c2d09f7788aa0011223344556677", Href: "/judges/citations?version=4be1c2d09f7788aa0011223344556677", EvaluationsHref: "/evaluations?judge=citations", First: "2026-07-01", Evaluations: 412, Current: true, Shown: true}, {Version: "0be1c2d09f7788aa0011223344556699", Href: "/judges/citations?version=0be1c2d09f7788aa0011223344556699", EvaluationsHref: "/evaluations?version=0be1c2d09f7788aa0011223344556699", First: "2026-06-01", Evaluations: 40}}})},
		{"judge-lost", views.Judge(views.JudgePage{JudgeHead: judgeHead("definition"), Version: "0be1c2d09f7788aa0011223344556699", Lost: true})},
		{"judge-health", views.JudgeHealth(healthPage())},
		{"judge-health-empty", views.JudgeHealth(views.HealthPage{JudgeHead: judgeHead("health")})},
		{"judge-rerun", views.Rerun(rerunPage())},
		{"judge-rerun-empty", views.Rerun(views.RerunPage{JudgeHead: judgeHead("rerun")})},
		{"policy", views.Policy(policyPage())},
		{"policy-conflict", views.Policy(conflictPage())},
		{"calibration-index", views.CalibrationIndex(views.CalibrationIndexPage{Frame: frame("Calibration", views.TabCalibration), Rows: []views.CalibrationRow{calibrationRow("citations", true), calibrationRow("logic", false)}})},
		{"calibration", views.Calibration(views.CalibrationPage{Frame: frame("citations, calibration", views.TabCalibration), Judge: "citations",
			JSONHref: "/calibration/citations/numbers.json", CSVHref: "/calibration/citations/numbers.csv", Series: []views.CalibrationSeries{series, few}})},
		{"audit", views.Audit(views.AuditPage{Frame: frame("Audit log", views.TabAudit), Check: views.AuditCheck{Done: true, Whole: true, Events: 1284, Head: "5cff4379c3a40f87767e4769b505a43a5be44517aec1259890807b37ea1f5c81", At: now},
			Rows: []views.AuditRow{{Seq: 1284, At: now, Actor: "Lead C", ByPerson: true, Action: "Exported 1,204 events", Subject: "project default", Previous: "a7e78932040f8356c246fdffd8b8ea22", Hash: "5cff4379c3a40f87767e4769b505a43a"}, {Seq: 1283, At: now.Add(-time.Minute), Actor: "routing", Action: "Routed to review", Denied: true, Subject: "evaluation ev-20931", Detail: "critical_error", Previous: "0b43ec89d77a99ff2f3cbc49e11f7432", Hash: "a7e78932040f8356c246fdffd8b8ea22"}}})},
		{"error", views.Error(views.ErrorPage{Frame: frame("Not found", ""), Status: 404, Heading: "There is no such trace", What: "The project has no trace med-9999.", Safe: "Nothing was changed.", Do: "Check the id, or look for it in the list.", LinkHref: "/evaluations", LinkText: "Evaluations", ID: "req-77"})},
		{"preferences", views.Preferences(views.PreferencesPage{Frame: frame("Preferences", ""), Email: "a@northgate.example"})},
		{"help", views.Help(views.HelpPage{Frame: frame("Help", "")})},
		{"import", views.Import(views.ImportPage{Frame: frame("Import", views.TabRuns), Run: "nightly", MaxBytes: 64 << 20, Fault: "Choose a file first.", Result: &views.ImportResult{File: "traces.jsonl", New: 40, Revised: 2, Unchanged: 7, Faults: []views.ImportFault{{Line: 12, Field: "output", Text: "is missing"}}, MoreFaults: 3, EvaluationsHref: "/evaluations?run=nightly"}})},
	}
	for _, s := range []views.DeskState{views.DeskOpen, views.DeskBlind, views.DeskRevealed, views.DeskVisible, views.DeskAdjudication, views.DeskDecided, views.DeskLost, views.DeskExpired, views.DeskReadOnly} {
		pages = append(pages, samplePage{"desk-" + string(s), views.Desk(desk(s))})
	}
	return pages
}

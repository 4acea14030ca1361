package views_test

import (
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
)

// gating is the trust of a version with rules that are met and rules that are not.
func gating(state judge.TrustState) views.Trust {
	return views.Trust{
		TrustRow: views.TrustRow{State: state, Why: "2 of 5 rules not met"}, Judge: "citations", Model: "larch-2", Version: "4be1c2d09f77", Since: now,
		By: "Lead C", Reason: "Its supplier replaced <the model>.", ByRules: judge.Advisory, PolicyVersion: 7, EventsHref: "/audit?subject=judge%3Acitations", MayChange: true,
		Rules: []views.TrustRule{{Met: true, Asks: "At least 150 blind labels", Shows: "212", Detail: "Answers given before the judge’s verdict was seen."},
			{Asks: "Lower bound of kappa at least 0.60", Shows: "0.41", Detail: "Kappa is 0.59."}},
		Text: "It fell", Fault: "Reason is missing: say why in a sentence.",
	}
}

func releasePage() views.ReleasePage {
	rate := views.ShareLine{Value: "63.3%", Interval: "56.1% to 70%", Method: "Wilson", N: 180}
	row := views.ReleaseRow{ID: "01J1", Name: "Lead C", Role: "lead", Qualification: "Physician", Affirmation: "I release this run.", Comment: "Seen <b>with</b> the ward.",
		Although: "The fix is urgent.", SHA256: "5cff4379c3a40f87767e4769b505a43a", At: now, Same: true, Outcome: "Failed", PassRate: "63.3%", Decided: 180, Waiting: 3,
		Overridden: 6, PolicyVersion: 7, Text: "typed", Fault: "Reason is missing."}
	withdrawn := row
	withdrawn.ID, withdrawn.Withdrawn, withdrawn.WithdrawnBy, withdrawn.WithdrawnAt, withdrawn.Same = "01J0", "A dose is wrong.", "Lawyer B", now, false
	return views.ReleasePage{
		Frame: frame("Release of nightly", views.TabRuns), Run: "nightly", RunHref: "/runs/nightly",
		State: views.ReleaseState{State: "released", By: "Lead C", At: now, Since: "1 evaluation and 2 decisions are newer than the signature"},
		Evidence: views.ReleaseEvidence{
			Outcome: "Failed", Sentence: "The gate failed: the pass rate is under the minimum.", PassRate: rate, Minimum: "90%", Traces: 183, Unjudged: 1, Evaluations: 183, Decided: 180,
			Waiting: 1000, Overridden: 6, CountedUpTo: 1000, QueueHref: "/queue?run=nightly", OverriddenHref: "/evaluations?overridden=1&run=nightly", PolicyVersion: 7,
			SHA256: "5cff4379c3a40f87767e4769b505a43a", ResultsSHA256: "a7e78932040f8356c246fdffd8b8ea22", Notes: []string{"Some traces belong to a cluster."},
			Rules: []views.ReleaseRule{{Title: "Input", Outcome: "Passed", Detail: "183 traces", Passed: true}, {Title: "Pass rate, citations", Outcome: "Failed", Detail: "under the minimum"}},
			Judges: []views.ReleaseJudge{{Href: "/calibration/citations", Judge: "citations", Model: "larch-2", Version: "4be1c2d09f77", Decided: 180, Evaluations: 183, PassRate: rate,
				Corrected: views.ShareLine{Why: "people gave no label"}, ByCorrected: true, Trust: views.TrustRow{State: judge.Suspended, Why: "by Lead C"}}},
		},
		Releases: []views.ReleaseRow{row, withdrawn}, MaySign: true, Affirmation: "I release this run.", Although: "typed", Comment: "typed too",
		Fault: "Although is missing: say why.", FaultIn: "although",
	}
}

package views_test

import (
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
)

// Sample pages of judges, runs and policies.

func judgeHead(tab string) views.JudgeHead {
	return views.JudgeHead{
		Frame: frame("citations", views.TabJudges), Name: "citations", Description: "Evidence citation accuracy", Tab: tab,
		CalibrationHref: "/calibration/citations", DefinitionHref: "/judges/citations", HealthHref: "/judges/citations/health", RerunHref: "/judges/citations/rerun",
	}
}

func healthPage() views.HealthPage {
	p := views.HealthPage{
		JudgeHead: judgeHead("health"), Versions: []views.Choice{{Value: "4be1c2d09f77", Text: "4be1c2d09f77"}}, Models: []views.Choice{{Value: "tarn-3", Text: "tarn-3"}},
		Windows: []views.Choice{{Value: "30", Text: "30 days"}}, Window: "30",
		Total: views.HealthSum{
			Evaluations: 1236, Calls: 1390, Repaired: 111, Invalid: 25, Failed: 3, Refused: 12, Undecided: 31, Unpriced: 4, PromptTokens: 4_100_000, CompletionTokens: 812_000,
			TransportRetries: 17, CostUSD: 18.44, P50MS: 2048, P95MS: 16384, Reports: 1208, ChecksFailed: 310,
		},
		Checks: []views.JudgeCheck{{Name: "quote.agrees", Kind: "soft", Run: 1208, Failed: 210}, {Name: "citations.covered", Kind: "hard", Run: 1208, Failed: 100}},
	}
	for i, n := range []int64{80, 120, 4, 140, 90} {
		day := views.HealthDay{Day: time.Date(2026, 7, 1+3*i, 0, 0, 0, 0, time.UTC), HealthSum: views.HealthSum{
			Evaluations: n, Calls: n + 9, Repaired: 4 + int64(i), Invalid: int64(i), PromptTokens: 3000 * n, CompletionTokens: 700 * n, CostUSD: 0.015 * float64(n),
			P50MS: 1024 << (i % 2), P95MS: 8192, Reports: n, ChecksFailed: n / 5,
		}}
		if n < 10 {
			day.HealthSum = views.HealthSum{Untold: n}
		}
		p.Days = append(p.Days, day)
	}
	return p
}

func rerunPage() views.RerunPage {
	budget := "25"
	return views.RerunPage{
		JudgeHead: judgeHead("rerun"), MayStart: true,
		Form: views.RerunForm{
			Kind: "version", Run: "renal-dosing-12", Runs: []views.Choice{{Value: "renal-dosing-12", Text: "renal-dosing-12"}}, Engine: "openai", Engines: []views.Choice{{Value: "openai", Text: "api.example.org"}, {Value: "rules", Text: "Rules, without a model"}},
			Model: "tarn-3", Samples: "1", Budget: budget, PresentVersion: "4be1c2d09f7788aa0011223344556677",
		},
		Estimate: &views.RerunEstimate{
			Evaluations: 412, AlreadyThere: 20, Sampled: 200, PromptTokens: views.RerunRange{Low: 1e6, Mid: 1.2e6, High: 1.5e6}, CompletionTokens: views.RerunRange{Low: 2e5, Mid: 3e5, High: 5e5},
			Cost: views.RerunRange{Low: 4, Mid: 5.5, High: 8}, Priced: true, Basis: "this judge", Shown: []views.FieldAgain{{Name: "kind", Value: "version"}},
		},
		Reruns: []views.RerunRow{{ID: "01J", What: "All judged by version 0be1c2d09f77", State: "queueing", By: "Lead C", At: now, Queued: 200, Of: 412, Cost: "$5.50", Run: "renal-dosing-12", RunHref: "/runs/renal-dosing-12", MayStop: true}},
	}
}

func runPage() views.RunPage {
	budget, stopped := 5.0, now
	row := runRow()
	row.StoppedAt = &stopped
	return views.RunPage{
		Frame: frame("renal-dosing-12", views.TabRuns), Run: row, MayChange: true, Failed: 3,
		Judges:  []views.RunJudgeRow{{Judge: "citations", Href: "/judges/citations", RerunHref: "/judges/citations/rerun?run=renal-dosing-12", Pass: 300, Borderline: 40, Fail: 34, Waiting: 38, Expected: 412}},
		Reasons: []views.RunReason{{Judge: "citations", Code: judge.ReasonJudgeFailed, N: 3, Href: "/evaluations?reason=judge_failed"}, {Judge: "citations", N: 35, Href: "/queue?judge=citations"}},
		Money: &views.RunMoney{
			Rows:     []views.RunCost{{Judge: "citations", Model: "tarn-3", Evaluations: 400, Calls: 431, Unpriced: 1, PromptTokens: 1_200_000, CompletionTokens: 310_000, CostUSD: 4.2}, {Judge: "logic", Model: "tarn-3", TooFew: true}},
			SpentUSD: 4.2, HeldUSD: 0.4, Unpriced: 1, BudgetUSD: &budget, OnHold: 20, BudgetText: "5", Fault: "a budget is a number",
		},
		EvaluationsHref: "/evaluations?run=renal-dosing-12", QueueHref: "/queue?run=renal-dosing-12",
	}
}

func policyPage() views.PolicyPage {
	return views.PolicyPage{
		Frame: frame("Policy", views.TabPolicy), Version: 7, Present: 7, Author: "Lead C", At: now, MayChange: true, MayRequeue: true, YAML: "lease_minutes: 30\n", Last: "1000",
		Fields: views.PolicyFields{
			RandomAudit: "5", BoundaryAudit: "10", BoundaryWidth: "0.05", Seed: "countersign", Blind: "share", BlindShare: "80", DueHigh: "24", DueStandard: "72", Lease: "30", Domains: "legal, medical",
			EndpointsNamed: true, Endpoints: "ward-7", Known: "ward-7 (10.0.0.7)", Samples: "3", Temperature: "0.7", Between: "both", BlindRules: 1, Opinions: "2", CannotJudge: "2", Undo: "60", OpinionRules: 1, ReasonCodes: 4,
			Reasons: []views.PolicyReason{{Code: judge.ReasonMisattribution, High: "major", UsualHigh: "from minor", UsualStandard: "from major", Severities: true}, {Code: judge.ReasonJudgeFailed, Fixed: "can't be switched"}},
		},
		Rules:  []views.PolicyRule{{Judge: "citations", Domain: "medical", Says: []string{"a part below 0.85 is too low", "3 calls"}}},
		Judges: []views.Choice{{Value: "citations", Text: "citations"}},
		DryRun: &views.DryRun{
			Evaluations: 980, Asked: 1000, Sealed: 20, Unreadable: 3, Refused: 1, OtherVerdict: 12, From: now.AddDate(0, 0, -9), To: now,
			Lines: []views.DryRunLine{{Name: "Sent to people", Before: "310", After: "204", Change: "−106"}}, ByReason: []views.DryRunLine{{Name: "Ambiguous score", Before: "90", After: "0", Change: "−90"}},
			Week: []views.DryRunLine{{Name: "Sent to people", Before: "241", After: "159", Change: "−82"}}, Pace: []string{"citations, high stakes: 4.1 min a review, the median of 43 decisions (judge)."},
			NoLonger: views.DryRunChanges{Count: 106, Rows: []views.DryRunChange{{Href: "/evaluations/e1", TraceID: "med-0118", Judge: "citations", Reasons: []string{judge.ReasonAmbiguousScore}}}},
		},
		History: []views.PolicyVersion{{Version: 7, Href: "/policy?version=7", Author: "Lead C", Comment: "fewer audits", At: now, Shown: true}, {Version: 6, Href: "/policy?version=6", Author: "Lead B", At: now.Add(-time.Hour)}},
	}
}

func conflictPage() views.PolicyPage {
	p := policyPage()
	p.DryRun, p.Unsaved, p.Faults, p.FaultsIn = nil, true, []views.PolicyFault{{Line: 3, Text: "unknown key"}, {Text: "The lease is \"x\""}}, "yaml"
	p.Conflict = &views.PolicyConflict{Version: 8, Author: "Lead B", At: now, YAML: "lease_minutes: 11\n"}
	return p
}

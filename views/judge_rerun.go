package views

import "time"

// RerunPage lets a lead judge again what was judged: with the present version,
// by another model, or what failed. The form (GET) shows what it costs first; the
// button under the cost posts what was shown.
type RerunPage struct {
	JudgeHead
	Form RerunForm
	// Fault of what was asked; Field names the field it is in.
	Fault, Field string
	// Estimate of what was asked; nil before.
	Estimate *RerunEstimate
	// Changed says that it is another one than the person saw.
	Changed bool
	// MayStart shows the button that starts it.
	MayStart bool
	Reruns   []RerunRow // newest first
	// Waiting evaluations of this judge are still to be judged. Several says that
	// it has versions to compare.
	Waiting int
	Several bool
}

// RerunForm is what is asked, as in the address, and what there is to choose from.
type RerunForm struct {
	Kind                                string // version, model, failed
	Run, OfVersion, OfModel             string
	Runs, Versions, Models              []Choice
	Engine                              string // rules, or openai with an endpoint: openai/NAME
	Engines                             []Choice
	Model, Samples                      string
	Since, Budget                       string // a day; US dollars
	ModelAsked, PresentVersion, Present string // the model where none is named; the version that would judge
}

// RerunEstimate is what it would take.
type RerunEstimate struct {
	Evaluations, AlreadyThere, Sampled int
	PromptTokens, CompletionTokens     RerunRange
	Cost                               RerunRange
	// Priced says that the price is known; NoModel that nothing is asked of a model.
	Priced, NoModel bool
	Basis           string
	// Shown are the hidden fields of the form that starts it.
	Shown []FieldAgain
}

// RerunRange is low, likely and high.
type RerunRange struct{ Low, Mid, High float64 }

// RerunRow is one that was started.
type RerunRow struct {
	ID, What, State string
	By              string
	At              time.Time
	Queued, Skipped int
	Of              int    // evaluations that were expected
	Cost            string // as it was estimated
	Run, RunHref    string
	MayStop         bool
	// EvaluationsHref lists what it made; ContinueHref shows what is left of one
	// that was stopped, and its cost. Empty: neither is there.
	EvaluationsHref, ContinueHref string
}

// Money writes US dollars as pages do.
func Money(usd float64) string { return money(usd) }

package views

// JudgesPage lists the judges of the project.
type JudgesPage struct {
	Frame
	Rows []JudgeRow
	// ShowHealth is off for roles that a judge's health is kept from.
	ShowHealth bool
}

// JudgeRow is one judge.
type JudgeRow struct {
	Href        string
	Name        string
	Description string
	Version     string // prompt version, whole
	Builtin     bool
	Inputs      []string // names of the required inputs
	Evaluations int
	// CalibrationHref leads to its agreement with people.
	CalibrationHref string
	// Health of the last 30 days, and where all of it is.
	Health     HealthSum
	HealthHref string
	// Trust of the newest version, by the model that is trusted least.
	Trust TrustRow
	// OpenDrift is the number of its open drift alarms.
	OpenDrift int
}

// JudgeHead is what every page of a judge has above its content.
type JudgeHead struct {
	Frame
	Name            string
	Description     string
	CalibrationHref string
	// DefinitionHref, HealthHref, CompareHref and RerunHref are its pages; empty: not
	// for this reader. Tab is the one that is shown: definition, health, compare, rerun.
	DefinitionHref, HealthHref, CompareHref, RerunHref string
	Tab                                                string
}

// JudgePage is the definition of one version of a judge.
type JudgePage struct {
	JudgeHead
	Shadow     *ShadowSection // nil: not for this reader
	Promoted   []string       // when a lead made which version the one in use, the newest first
	Version    string         // prompt version, whole
	Current    bool
	Builtin    bool
	Inputs     []JudgeInput
	Labels     []JudgeLabel // best first
	Ordinal    bool
	MaxRepairs int
	BandLow    float64 // scores below fail
	BandPass   float64 // scores from here on pass
	Checks     []JudgeCheck
	// Counted says that checks have their counts.
	Counted bool
	// System opens the conversation; empty where this program does not know it.
	System string
	Prompt string
	// Blocks are texts that stand in the prompt: rubric, worked examples.
	Blocks   []JudgeBlock
	Schema   string // JSON, indented
	Versions []JudgeVersion
	// Lost says that what this version consisted of was not kept.
	Lost bool
}

// JudgeBlock is a text that fills a placeholder of a prompt.
type JudgeBlock struct{ Name, Text string }

// JudgeInput is a field of a trace that a judge reads.
type JudgeInput struct {
	Field    string
	Required bool
}

// JudgeLabel is one of a judge's classes.
type JudgeLabel struct {
	Name    string
	Verdict string // pass, borderline, fail
	Abstain bool
}

// JudgeCheck is a named check of its report: how often it ran and failed.
type JudgeCheck struct {
	Name        string
	Kind        string // hard, soft
	Run, Failed int64
}

// JudgeVersion is a prompt version that was in use.
type JudgeVersion struct {
	Version         string // whole
	Href            string // its definition
	EvaluationsHref string
	First           string // day of its first evaluation
	Evaluations     int
	Current         bool
	Shown           bool // on this page
}

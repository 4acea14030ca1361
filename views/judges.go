package views

// JudgesPage lists the judges of the project.
type JudgesPage struct {
	Frame
	Rows []JudgeRow
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
}

// JudgePage is the definition of one judge as it is in use.
type JudgePage struct {
	Frame
	Name            string
	Description     string
	Version         string // prompt version, whole
	Builtin         bool
	Inputs          []JudgeInput
	Labels          []JudgeLabel // best first
	Ordinal         bool
	MaxRepairs      int
	BandLow         float64 // scores below fail
	BandPass        float64 // scores from here on pass
	Checks          []JudgeCheck
	Prompt          string
	Schema          string // JSON, indented
	Versions        []JudgeVersion
	CalibrationHref string
}

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

// JudgeCheck is a named check of its report.
type JudgeCheck struct {
	Name string
	Kind string // hard, soft
}

// JudgeVersion is a prompt version that was in use.
type JudgeVersion struct {
	Version     string // whole
	First       string // day of its first evaluation
	Evaluations int
	Current     bool
}

package judge

import (
	"encoding/json"
	"time"
)

// Trace is one output of the system under test with all that is needed to
// judge it. Its JSON form is the trace file's (see package tracefile, which
// also reads the aliases and the CSV form).
type Trace struct {
	// ID is the file's id, unique in the project.
	ID          string         `json:"id"`
	Domain      string         `json:"domain,omitempty"`
	Stakes      Stakes         `json:"stakes,omitempty"` // never empty after reading
	Question    string         `json:"question,omitempty"`
	Output      string         `json:"output"`
	Reference   string         `json:"reference,omitempty"`
	Premises    []string       `json:"premises,omitempty"`
	Conclusion  string         `json:"conclusion,omitempty"`
	Sources     []Source       `json:"sources,omitempty"`
	Constraints []string       `json:"constraints,omitempty"`
	Judges      []string       `json:"judges,omitempty"`
	Run         string         `json:"run,omitempty"`
	Tags        []string       `json:"tags,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	// Cluster names what makes traces depend on each other: a conversation, a
	// question, a person. Empty means independent.
	Cluster   string       `json:"cluster,omitempty"`
	Judgments []Judgment   `json:"judgments,omitempty"`
	Labels    []HumanLabel `json:"labels,omitempty"`
}

// Source is a document that a trace may cite by its ID.
type Source struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Title string `json:"title,omitempty"`
	URL   string `json:"url,omitempty"`
}

// Judgment is a report that came with the trace: another system's judge, or an
// earlier run. Exactly one of Output (an object) and Raw (text) is set.
type Judgment struct {
	Judge         string          `json:"judge"`
	Model         string          `json:"model,omitempty"`
	PromptVersion string          `json:"prompt_version,omitempty"`
	At            *time.Time      `json:"at,omitempty"`
	Output        json.RawMessage `json:"output,omitempty"`
	Raw           string          `json:"raw,omitempty"`
}

// HumanLabel is a label by a person that is known when the trace arrives.
// At least one of Label and Verdict is set.
type HumanLabel struct {
	Judge       string     `json:"judge"`
	Label       string     `json:"label,omitempty"`
	Verdict     Verdict    `json:"verdict,omitempty"`
	Reviewer    string     `json:"reviewer,omitempty"`
	Findings    []Finding  `json:"findings,omitempty"`
	Comment     string     `json:"comment,omitempty"`
	At          *time.Time `json:"at,omitempty"`
	Blind       *bool      `json:"blind,omitempty"`
	Adjudicated bool       `json:"adjudicated,omitempty"`
	Stratum     string     `json:"stratum,omitempty"`
	// InclusionProbability is in [LeastChance,1]; nil when the file does not say.
	InclusionProbability *float64 `json:"inclusion_probability,omitempty"`
}

// LeastChance is the smallest chance of being drawn that a label can have: one label
// would stand for a million. Below it is a slip, and sums of one over it overflow.
const LeastChance = 1e-6

// LeastChanceText is LeastChance as people write it.
const LeastChanceText = "0.000001"

// KnownChance is a chance of being drawn, in [LeastChance,1], or 0: not known. What is
// stored from before there was a least one counts as not known.
func KnownChance(p float64) float64 {
	if p >= LeastChance && p <= 1 {
		return p
	}
	return 0
}

// Finding points at a part of a trace (counted from 1; 0 = not about that
// part) and says what was found there. Judges and people both make them.
type Finding struct {
	Step        int    `json:"step,omitempty"`
	Citation    int    `json:"citation,omitempty"` // occurrence number in the trace, from 1
	CitationID  string `json:"citation_id,omitempty"`
	Dimension   string `json:"dimension,omitempty"`
	Class       string `json:"class"`
	Severity    string `json:"severity,omitempty"` // critical, major, minor or empty
	Quote       string `json:"quote,omitempty"`
	Explanation string `json:"explanation,omitempty"`
}

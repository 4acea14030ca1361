package judge

import (
	"encoding/json"
	"reflect"
)

// Policy is what a lead can change about a project: what is sent to people and
// when, which endpoints and models judge, audits and blindness. DefaultPolicy has
// the values of judges.md and the contract. Policy.For is its only reader:
// nothing else decides which of its rules counts.
//
// What a field leaves unsaid has the default that its comment names, so that a
// policy which was stored before the field was there means what it meant.
type Policy struct {
	Version int `json:"version"`
	// RandomAudit and BoundaryAudit are shares in [0,1] of the accepted
	// evaluations (of those near a boundary) that are drawn for audit.
	RandomAudit   float64 `json:"random_audit"`
	BoundaryAudit float64 `json:"boundary_audit"`
	// BoundaryWidth is how near to an end of the band a score in [0,1] is near a
	// boundary; nil: 0.05.
	BoundaryWidth *float64 `json:"boundary_width,omitempty"`
	// Seed makes draws repeatable: a draw depends on it and the evaluation.
	Seed string `json:"seed"`
	// Blind is never, always, or share (BlindShare of the items at random).
	Blind      string      `json:"blind"`
	BlindShare float64     `json:"blind_share"`
	BlindRules []BlindRule `json:"blind_rules,omitempty"` // the first that fits counts
	// BlindOrder is how blind items stand among each other: BlindByReason or "", or
	// BlindEvenly.
	BlindOrder string `json:"blind_order,omitempty"`
	// DueHours until a review of these stakes is due.
	DueHoursHigh     int `json:"due_hours_high"`
	DueHoursStandard int `json:"due_hours_standard"`
	// DueRules are exceptions by reason, stakes and domain; the first that fits counts.
	DueRules []DueRule `json:"due_rules,omitempty"`
	// Assignment says who may be given an item; each rule that fits has to be met.
	Assignment []AssignmentRule `json:"assignment,omitempty"`
	// LeaseMinutes that a claim lasts without renewal.
	LeaseMinutes int `json:"lease_minutes"`
	// Opinions that items need before they are settled; nil: one each.
	Opinions *Opinions `json:"opinions,omitempty"`
	// CannotJudge is how many people have to say that they cannot judge an item
	// before a lead settles it; 0: 2.
	CannotJudge int `json:"cannot_judge,omitempty"`
	// UndoSeconds in which who decided may take it back; nil: 60.
	UndoSeconds *int `json:"undo_seconds,omitempty"`
	// OverrideReasons are why people differ from a judge; nil: see
	// DefaultOverrideReasons.
	OverrideReasons []OverrideReason `json:"reason_codes,omitzero"`
	// HighStakesDomains are the domains whose traces have high stakes unless a
	// trace says otherwise; nil: legal, medical, finance, safety.
	HighStakesDomains []string `json:"high_stakes_domains,omitzero"`
	// Endpoints are the names or hosts that traces may be sent to. Nil: each that
	// is configured. Empty: none, and only engines without network judge.
	Endpoints []string `json:"endpoints,omitzero"`
	// Disagreement says which evaluations of one trace are compared; nil: see
	// DefaultDisagreement.
	Disagreement *Disagreement `json:"disagreement,omitempty"`
	// Models that judge each trace where the command names none; nil: the
	// configured one.
	Models []ModelChoice `json:"models,omitempty"`
	// Samples is how many calls one evaluation takes (self-consistency); 0: 1.
	Samples int `json:"samples,omitempty"`
	// SampleTemperature of the calls after the first; nil: 0.7.
	SampleTemperature *float64 `json:"sample_temperature,omitempty"`
	// BudgetUSD of a run that sets none; 0: no limit.
	BudgetUSD float64 `json:"budget_usd,omitempty"`
	// Trust is what judges have to show before they are trusted; nil: DefaultTrust.
	Trust *TrustRules `json:"trust,omitempty"`
	// Release is what a run has to show before it is released; nil: nothing.
	Release *ReleaseRules `json:"release,omitempty"`
	// Reasons turns reasons on or off for the whole project, by code.
	Reasons map[string]Switch `json:"reasons,omitempty"`
	// Rules are exceptions for a judge, a domain, or both. The more special one
	// counts: judge and domain, then judge, then domain, then the project.
	Rules []PolicyRule `json:"rules,omitempty"`
}

// PolicyRule is what holds for one judge, one domain, or one judge in one
// domain. What it leaves unsaid is as the less special rules say.
type PolicyRule struct {
	Judge  string `json:"judge,omitempty"`
	Domain string `json:"domain,omitempty"`
	// Band replaces the judge's own; Below is the line in [0,1] under which a
	// part is below_threshold, as a share of the part's scale.
	Band          *Band    `json:"band,omitempty"`
	Below         *float64 `json:"below,omitempty"`
	RandomAudit   *float64 `json:"random_audit,omitempty"`
	BoundaryAudit *float64 `json:"boundary_audit,omitempty"`
	BoundaryWidth *float64 `json:"boundary_width,omitempty"`

	Endpoints []string          `json:"endpoints,omitzero"`
	Models    []ModelChoice     `json:"models,omitempty"`
	Samples   int               `json:"samples,omitempty"`
	Reasons   map[string]Switch `json:"reasons,omitempty"`
	// Examples in the judge's prompt; nil: its own. For a judge in all domains only,
	// since a judge has one prompt.
	Examples *ExampleRule `json:"examples,omitempty"`
	// Trust is what this judge has to show before it is trusted; for a judge in all
	// domains only.
	Trust *TrustRules `json:"trust,omitempty"`
}

// BlindRule says how items of a reason, of stakes or of both are reviewed.
type BlindRule struct {
	Reason string  `json:"reason,omitempty"` // the leading one; empty: any
	Stakes Stakes  `json:"stakes,omitempty"` // empty: both
	Mode   string  `json:"mode"`             // never, always or share
	Share  float64 `json:"share,omitempty"`  // in [0,1], of mode share
}

// Values of Policy.Blind and BlindRule.Mode.
const (
	BlindNever  = "never"
	BlindAlways = "always"
	BlindByLot  = "share"
)

// ModelChoice is a model and the endpoint that is asked for it.
type ModelChoice struct {
	Model    string `json:"model"`
	Endpoint string `json:"endpoint,omitempty"` // a name; empty: the default one
}

// Switch turns a reason on or off by stakes: SwitchOn, SwitchOff, or for
// misattribution the least severity that counts. Empty: not said here.
type Switch struct {
	High     string `json:"high,omitempty"`
	Standard string `json:"standard,omitempty"`
}

// Values of a Switch besides severities.
const (
	SwitchOn  = "on"
	SwitchOff = "off"
)

// at is what a switch says for stakes.
func (s Switch) at(stakes Stakes) string {
	if stakes == HighStakes {
		return s.High
	}
	return s.Standard
}

// Disagreement says which evaluations of one judge on one trace are compared.
type Disagreement struct {
	// Engines whose verdicts count; nil: openai and rules.
	Engines []string `json:"engines,omitzero"`
	// Between models, versions (prompt versions) or both.
	Between string `json:"between"`
	// Recorded reports are compared too.
	Recorded bool `json:"recorded,omitempty"`
}

// Values of Disagreement.Between.
const (
	BetweenModels   = "models"
	BetweenVersions = "versions"
	BetweenBoth     = "both"
)

// DefaultDisagreement compares models and versions, but for recorded reports.
func DefaultDisagreement() Disagreement {
	return Disagreement{Engines: []string{EngineOpenAI, EngineRules}, Between: BetweenBoth}
}

// DefaultPolicy: 5% random and 10% boundary audits, blind first for all.
func DefaultPolicy() Policy {
	return Policy{
		Version: 1, RandomAudit: 0.05, BoundaryAudit: 0.10, Seed: "countersign",
		Blind: BlindAlways, BlindShare: 1, DueHoursHigh: 24, DueHoursStandard: 72,
		LeaseMinutes: 30,
	}
}

// What fields of a policy mean that are left unsaid.
const (
	defaultBoundaryWidth     = 0.05
	defaultSampleTemperature = 0.7
)

// IsZero reports that nothing was ever said: this is no policy.
func (p Policy) IsZero() bool { return reflect.ValueOf(p).IsZero() }

// UnmarshalJSON reads what is stored, also by an earlier program, whose only
// reason to switch was uncited_claims at high stakes.
func (p *Policy) UnmarshalJSON(data []byte) error {
	type plain Policy // without this method
	stored := struct {
		*plain
		UncitedClaims bool `json:"uncited_claims"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(data, &stored); err != nil {
		return err
	}
	if _, said := p.Reasons[ReasonUncitedClaims]; stored.UncitedClaims && !said {
		if p.Reasons == nil {
			p.Reasons = map[string]Switch{}
		}
		p.Reasons[ReasonUncitedClaims] = Switch{High: SwitchOn, Standard: SwitchOff}
	}
	return nil
}

// StakesOf a trace of this domain that does not say its stakes itself.
func (p Policy) StakesOf(domain string) Stakes {
	if p.HighStakesDomains == nil {
		return DefaultStakes(domain)
	}
	for _, d := range p.HighStakesDomains {
		if d == domain {
			return HighStakes
		}
	}
	return StandardStakes
}

// BlindShareOf is the share in [0,1] of the items of this leading reason and
// these stakes that are reviewed blind: 0 none, 1 all.
func (p Policy) BlindShareOf(reason string, stakes Stakes) float64 {
	mode, share := p.Blind, p.BlindShare
	for _, r := range p.BlindRules {
		if (r.Reason == "" || r.Reason == reason) && (r.Stakes == "" || r.Stakes == stakes) {
			mode, share = r.Mode, r.Share
			break
		}
	}
	switch mode {
	case BlindNever:
		return 0
	case BlindByLot:
		return share
	}
	return 1
}

// Draw is how an evaluation came to be reviewed: the sampling design that any
// later statistic needs (measurement.md, section 0).
type Draw struct {
	// Stratum: flagged, random_audit, boundary_audit, requested.
	Stratum string `json:"stratum"`
	// InclusionProbability in (0,1]: the chance that an evaluation like this
	// one is reviewed.
	InclusionProbability float64 `json:"inclusion_probability"`
	// PolicyVersion whose shares and seed the draw was made with; 0: no policy
	// of a project.
	PolicyVersion int `json:"policy_version,omitempty"`
}

// Strata.
const (
	StratumFlagged       = "flagged"
	StratumRandomAudit   = "random_audit"
	StratumBoundaryAudit = "boundary_audit"
	StratumRequested     = "requested"
	StratumImported      = "imported"
)

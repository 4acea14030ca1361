package fakeendpoint

// Opinions are shares in [0,1] of traces: of those whose report finds something,
// and of those whose report finds the worst. The rest is found to be good.
type Opinions struct {
	Fair, Bad float64
	// Dissent is the share of traces on which what a model thinks is its own, and
	// not what every other one thinks; Wavering of those on which it depends on
	// the seed of the call.
	Dissent, Wavering float64
}

type opinion int

const (
	good opinion = iota
	fair
	bad
)

// opinion of a trace: the same for the same candidate, whatever else the prompt
// holds.
func (e *Endpoint) opinion(m *material) opinion {
	o := &e.config.Opinions
	h := hashBytes(e.config.Seed, []byte(m.output()))
	d := die(h)
	if d.unit(1) < o.Dissent {
		h = hashBytes(h, []byte(m.model))
	}
	if d.unit(2) < o.Wavering {
		h = mix(h + uint64(m.seed)*0x9e3779b97f4a7c15)
	}
	switch u := die(h).unit(0); {
	case u < o.Bad:
		return bad
	case u < o.Bad+o.Fair:
		return fair
	}
	return good
}

// report is the one that fits the material; wrong makes it contradict itself in
// a way that a hard check of its judge finds.
func (e *Endpoint) report(m *material, wrong bool) any {
	o := e.opinion(m)
	switch m.judge {
	case "steps":
		return alignment(m, o, wrong)
	case "steps-comparison":
		return comparison(m, o, wrong)
	case "reference":
		return equivalence(m, o, wrong)
	case "logic":
		return rubricReport(m, o, wrong)
	case "logic-steps":
		return violationsReport(m, o, wrong)
	case "citations":
		return citations(m, o, wrong)
	case "reference_steps":
		return decomposition(m, wrong)
	}
	return instance(m.schema, o)
}

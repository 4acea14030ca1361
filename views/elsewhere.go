package views

import "github.com/countersign/countersign/judge"

// Elsewhere is queued work that this server leaves to one that can do it.
type Elsewhere struct {
	Engine   string
	Endpoint string // by its name; empty: the default one
	N        int    // evaluations
	More     bool   // there are more than N
}

// elsewhereLine says what waits, what it waits for, and how it ends.
func elsewhereLine(e Elsewhere) string {
	verb := " waits"
	if e.N != 1 || e.More {
		verb = " wait"
	}
	many := count(e.N, "evaluation", "evaluations")
	if e.More {
		many = "more than " + many
	}
	line := capital(many) + verb + " for a server that has "
	switch {
	case e.Engine != judge.EngineOpenAI:
		return line + "the engine " + e.Engine + ". This one does not, and leaves the work alone."
	case e.Endpoint == "":
		return line + "the default model endpoint. This one has no key and no address for it, and leaves the work alone: start it anew with --engine openai and OPENAI_API_KEY or OPENAI_BASE_URL, or start another server that has them."
	}
	return line + "the endpoint " + e.Endpoint + ". This one does not, and leaves the work alone: add it under endpoints in its countersign.yaml and start it anew, or start another server that has it."
}

// Package harness runs judges. A model only reads and writes text; the harness
// owns everything that can be computed: it fills the prompt, finds the report in
// the reply, validates it, recomputes every number that has a formula, asks for
// repair, and decides whether a person must look. From what an evaluation keeps it
// can make it again.
//
// It never lets a report that failed its schema or a hard check become a score,
// never drops an evaluation (what fails goes to a person, with the reason), never
// fails one because an endpoint is down for a while, and never takes text of a
// trace for an instruction or a placeholder. Between evaluations it remembers only
// what makes none of them come out otherwise: compiled schemas, references that
// were cut into steps, and which endpoints are down. It imports no database and no
// page.
package harness

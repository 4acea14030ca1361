// Package harness runs judges. A model only reads and writes text; the harness
// owns everything that can be computed: it fills the prompt, finds the report in
// the reply, validates it, recomputes every number that has a formula, asks for
// repair, and decides whether a person must look.
//
// It never lets a report that failed its schema or a hard check become a score,
// never drops an evaluation (what fails goes to a person, with the reason), and
// never takes text of a trace for an instruction or a placeholder. It keeps no
// state between evaluations and imports no database and no page.
package harness

// Package judge is the vocabulary of Countersign: what a trace, a judge, a
// report, an evaluation and a reason are, and the rules that turn a report
// into a verdict and a verdict into work for a person.
//
// Data flows one way: trace -> judge -> verdict -> queue -> decision ->
// calibration. This package and its sub-packages hold the first three. They
// import nothing else of ours: no database, no page, no server. Time and
// randomness come in as values, so that an evaluation can be replayed.
package judge

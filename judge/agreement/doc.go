// Package agreement measures how far raters agree: two raters by their
// confusion matrix, several raters by the labels that each item received.
//
// It is arithmetic over counts: no database, no clock, no randomness; the standard
// library and gonum. It never shows what is not there: a figure that the
// data do not determine comes back with a reason instead of 0, 1 or NaN, and
// becomes null in JSON. It never chooses a scale either: callers declare it,
// because weights, AC1 and Bennett's S depend on labels that nobody used.
//
// In a confusion matrix rows are the first rater (in Countersign the person)
// and columns the second (the judge). Each function names the source of its
// formula; the values are tested against published and package-computed ones
// in testdata.
//
// The packages below it are for other questions: scores (numbers instead of labels),
// classifier (the judge against people as the reference), forecast (stated
// confidences), rate (how much of the work is bad, from judge verdicts and few
// labels), sampling (labels drawn with unequal chances), samplesize (how many labels),
// drift (over time), latent and alttest (several people), resample (bootstrap and
// jackknife). TestVectors of this package tests them all. docs/agreement.md says what
// each figure means and which convention was chosen.
package agreement

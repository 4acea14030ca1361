// Package resample makes intervals by drawing the data again: percentile and BCa
// bootstraps, and the jackknife. What is drawn is units (items), never single
// labels; units of one cluster (a conversation, a question) are drawn together, and
// each sampling stratum keeps its size.
//
// A statistic sees how many units of each kind were drawn, where units that it
// cannot tell apart are of one kind: the cells of a confusion matrix for kappa, the
// distinct rows of counts for alpha. Draws come from a seeded PCG generator, one
// stream for each replicate, so that a seed gives the same interval always.
package resample

// Package latent estimates what the truth was when several raters disagree: by
// majority, or by Dawid and Skene's model of how each rater errs.
//
// The model is not identified from two raters or few labels, and a judge must
// never vote on its own truth.
package latent

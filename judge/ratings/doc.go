// Package ratings reads who rated what, and how, from any ratings file: long CSV
// (item, rater, label), wide CSV (a column for each rater), or JSON with ratings or a
// confusion matrix. What is wrong is named by file, line and field; nothing is
// guessed, and no file can take more memory than its limits allow.
package ratings

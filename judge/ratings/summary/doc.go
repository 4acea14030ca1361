// Package summary computes every agreement statistic that a ratings file allows, and
// says of each other one why it does not apply.
package summary

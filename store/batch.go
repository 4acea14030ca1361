package store

import "slices"

// batchSize bounds the values of one IN list, far below what SQLite and
// PostgreSQL take.
const batchSize = 500

// inBatches calls fn with at most batchSize values at a time.
func inBatches(values []string, fn func(batch []string) error) error {
	for batch := range slices.Chunk(values, batchSize) {
		if err := fn(batch); err != nil {
			return err
		}
	}
	return nil
}

// distinct drops empty and repeated values; the order is that of first sight.
func distinct(values []string) []string {
	seen := make(map[string]bool, len(values))
	var kept []string
	for _, v := range values {
		if v != "" && !seen[v] {
			seen[v] = true
			kept = append(kept, v)
		}
	}
	return kept
}

// anys are the values as query arguments.
func anys(values []string) []any {
	args := make([]any, len(values))
	for i, v := range values {
		args[i] = v
	}
	return args
}

// Package migrations holds the database schema as numbered SQL files, applied
// in order at start. A file that has been released is never edited.
package migrations

import "embed"

// Files are the goose migrations.
//
//go:embed *.sql
var Files embed.FS

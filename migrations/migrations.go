// Package migrations holds the database schema as numbered SQL files, applied
// in order at start. A file that has been released is never edited.
//
// A file is for both databases, unless its name ends in the name of one.
package migrations

import (
	"embed"
	"io/fs"
	"slices"
	"strings"
)

//go:embed *.sql
var files embed.FS

// databases are the names by which a file is for one of them only.
var databases = []string{"sqlite3", "postgres"}

// For are the migrations of one database, "sqlite3" or "postgres", as goose
// reads them.
func For(database string) fs.FS { return only{files, database} }

// only leaves out what is for other databases.
type only struct {
	embed.FS
	database string
}

// Glob implements fs.GlobFS.
func (o only) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(o.FS, pattern)
	return slices.DeleteFunc(names, func(name string) bool {
		for _, other := range databases {
			if other != o.database && strings.HasSuffix(name, "_"+other+".sql") {
				return true
			}
		}
		return false
	}), err
}

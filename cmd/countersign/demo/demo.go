// Package demo holds the example data of `countersign demo`: real traces with
// human labels, from public sets, and a few written ones that show each judge's
// workbench, compressed into the program. NOTICE names their sources and
// licences.
//
// It never changes a trace, and gives nothing that the sets do not have.
package demo

import (
	"bytes"
	"compress/gzip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/countersign/countersign/judge"
)

// The data files are made by this command, from a folder that holds one folder
// a set with its traces.jsonl; the same input gives the same bytes:
//
//	go run build.go -from FOLDER

//go:embed data/*.jsonl.gz data/*.yaml
var files embed.FS

// Set is one embedded trace file.
type Set struct {
	// Name is the set's, and the run its traces go into.
	Name string
	// About says in a few words what the traces are.
	About string
}

// Sets in the order in which they are loaded.
func Sets() []Set {
	return []Set{
		{"expertqa", "long answers with citations, checked by experts of the field"},
		{"sara_statutory", "tax cases against the statute"},
		{"legalbench_cuad", "statements about contract clauses"},
		{"openqa_eval", "short answers against golden ones, with reports of three judges and two annotators"},
		{"mr_gsm8k_grading", "critiques of wrong solutions, with reports of one judge and an expert"},
		{"workbenches", "written examples for each built-in judge, with written reports"},
	}
}

// Open gives the set's trace file (JSONL).
func (s Set) Open() (io.ReadCloser, error) {
	packed, err := files.ReadFile("data/" + s.Name + ".jsonl.gz")
	if err != nil {
		return nil, fmt.Errorf("demo set %s: %w", s.Name, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("demo set %s: %w", s.Name, err)
	}
	return r, nil
}

// Judges are the own judges that the sets use.
func Judges() ([]judge.Judge, error) {
	names, err := fs.Glob(files, "data/*.yaml")
	if err != nil {
		return nil, err
	}
	var judges []judge.Judge
	var faults []error
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		j, err := judge.ParseDefinition(path.Base(name), data)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		judges = append(judges, j)
	}
	return judges, errors.Join(faults...)
}

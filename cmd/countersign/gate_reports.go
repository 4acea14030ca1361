package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/natefinch/atomic"

	"github.com/countersign/countersign/judge/release"
)

// gateReports are where a gate writes what it came to.
type gateReports struct {
	junit, json, summary string
	step                 string // GitHub's summary of the step, which is added to; empty: none
	annotate             bool
}

// reports says where; a file that can't be written is told before anything is judged.
func (c gateCmd) reports(s *state) (r gateReports, err error) {
	r = gateReports{junit: c.JUnit, json: c.JSON, summary: c.Summary, annotate: s.env("GITHUB_ACTIONS") == "true"}
	if r.summary == "" {
		r.step = s.env("GITHUB_STEP_SUMMARY")
	}
	taken := map[string]string{}
	for _, f := range []struct{ name, path string }{
		{"the trace file", c.File}, {"--policy", c.Policy}, {"--baseline", c.Baseline}, {"--out", c.Out}, {"--attempts", c.Attempts},
		{"--junit", c.JUnit}, {"--json", c.JSON}, {"--summary", c.Summary},
	} {
		if f.path == "" || f.path == "-" && f.name != "--junit" && f.name != "--summary" {
			continue
		}
		if f.path == "-" {
			return r, usagef("%s is -: name a file; only --json may go to standard output", f.name)
		}
		whole := absolute(f.path)
		if other, ok := taken[whole]; ok {
			return r, usagef("%s and %s are both %s: name two files", other, f.name, f.path)
		}
		taken[whole] = f.name
	}
	for _, path := range []string{c.JUnit, c.JSON, c.Summary} {
		if path == "" || path == "-" {
			continue
		}
		if err := writable(path); err != nil {
			return r, err
		}
	}
	return r, nil
}

// writable says whether a file of this name can be made, by making another beside it.
func writable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usagef("%s is a folder: name a file in it", path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".countersign-*")
	if err != nil {
		return usagef("a report can't be written to %s: %w", path, err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// write writes all of them. A file is there whole, or as it was.
func (r gateReports) write(s *state, report release.Report) error {
	plain := s.stdout
	if r.json == "-" {
		if err := s.writeJSON(report); err != nil {
			return err
		}
		plain = s.stderr
	}
	if err := report.Text(plain); err != nil {
		return err
	}
	if r.annotate {
		if err := report.Annotations(plain); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		path  string
		write func(io.Writer) error
	}{{r.junit, report.JUnit}, {r.json, func(w io.Writer) error { return indented(w, report) }}, {r.summary, report.Markdown}} {
		if f.path == "" || f.path == "-" {
			continue
		}
		var b bytes.Buffer
		if err := f.write(&b); err != nil {
			return err
		}
		if err := atomic.WriteFile(f.path, &b); err != nil {
			return fmt.Errorf("write a report: %w", err)
		}
	}
	if r.step == "" {
		return nil
	}
	return addTo(r.step, report.Markdown)
}

// addTo adds to the end of a file, in one write.
func addTo(path string, write func(io.Writer) error) (err error) {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, err = f.Write(b.Bytes())
	return err
}

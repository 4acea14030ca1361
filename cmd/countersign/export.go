package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

type exportCmd struct {
	Kind string `arg:"" enum:"evaluations,decisions,labels,audit,traces" help:"What: evaluations, decisions, labels, audit or traces."`
	projectFlags
	Format  string `help:"jsonl: one object a line; csv: columns, what is more than a text as JSON in its cell." enum:"jsonl,csv" default:"jsonl"`
	Since   string `help:"Only what is from then on: a date, or a time such as 2026-05-01T09:30:00Z." placeholder:"TIME"`
	RunName string `name:"run" help:"Only of this run." placeholder:"NAME"`
	Judge   string `help:"Only of this judge." placeholder:"NAME"`
}

// Run writes records to standard output.
func (c exportCmd) Run(ctx context.Context, s *state) (err error) {
	filter := store.EvaluationFilter{Project: c.Project, Run: c.RunName, Judge: c.Judge}
	if filter.Since, err = parseSince(c.Since); err != nil {
		return err
	}
	if c.Kind == "audit" && (c.Since != "" || c.RunName != "" || c.Judge != "") {
		return usagef("the audit log is exported whole, so that its chain can be verified: leave out --since, --run and --judge")
	}
	db, err := c.openExisting(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	out := bufio.NewWriter(s.stdout)
	defer func() { err = errors.Join(err, out.Flush()) }()

	who := s.operator()
	switch c.Kind {
	case "decisions":
		return db.EachDecision(ctx, who, filter, records[store.Decision](ctx, c.Format, out))
	case "labels":
		return db.EachLabel(ctx, who, filter, records[store.LabelRow](ctx, c.Format, out))
	case "traces":
		return db.EachTrace(ctx, who, filter, records[judge.Trace](ctx, c.Format, out))
	case "audit":
		head, err := db.EachAuditEvent(ctx, who, records[store.AuditEvent](ctx, c.Format, out))
		if err != nil || c.Format == "csv" {
			return err
		}
		line, err := jsonLine(head)
		if err != nil {
			return err
		}
		_, err = out.Write(line)
		return err
	}
	write := records[judge.Evaluation](ctx, c.Format, out)
	return db.EachEvaluation(ctx, who, filter, func(e judge.Evaluation) error {
		e.Calls = nil
		return write(e)
	})
}

// parseSince reads a date (its beginning in UTC) or a time.
func parseSince(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--since %q is neither a date such as 2026-05-01 nor a time such as 2026-05-01T09:30:00Z", text)
}

// records gives the function that writes records of one type.
func records[T any](ctx context.Context, format string, out io.Writer) func(T) error {
	write := func(v T) error {
		line, err := jsonLine(v)
		if err == nil {
			_, err = out.Write(line)
		}
		return err
	}
	if format == "csv" {
		write = csvRecords[T](out)
	}
	return func(v T) error {
		if err := stopped(ctx); err != nil {
			return err
		}
		return write(v)
	}
}

// csvRecords writes the JSON form of a struct as CSV: a column for each field,
// a text as it is, null as nothing, and everything else as JSON. The header
// comes first also when there is no record.
func csvRecords[T any](out io.Writer) func(T) error {
	columns := columnsOf(reflect.TypeFor[T]())
	if _, ok := any(*new(T)).(judge.Evaluation); ok { // the attempts are no part of the list form
		columns = slices.DeleteFunc(columns, func(name string) bool { return name == "calls" })
	}
	w := csv.NewWriter(out)
	headerErr := w.Write(columns)
	w.Flush()
	return func(v T) error {
		if headerErr != nil {
			return headerErr
		}
		line, err := jsonLine(v)
		if err != nil {
			return err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(line, &fields); err != nil {
			return fmt.Errorf("a record is not an object: %w", err)
		}
		cells := make([]string, len(columns))
		for i, name := range columns {
			if cells[i], err = cell(fields[name]); err != nil {
				return err
			}
		}
		err = w.Write(cells)
		w.Flush()
		return errors.Join(err, w.Error())
	}
}

func cell(value json.RawMessage) (string, error) {
	switch {
	case len(value) == 0 || string(value) == "null":
		return "", nil
	case value[0] == '"':
		var text string
		err := json.Unmarshal(value, &text)
		return text, err
	}
	return string(value), nil
}

// columnsOf are the JSON names of a struct's fields.
func columnsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}

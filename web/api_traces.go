package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"unicode"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/tracefile"
	"github.com/countersign/countersign/store"
)

// received is the answer to POST /api/v1/traces: what is stored now, and what
// was wrong with the rest, by line.
type received struct {
	Traces      int         `json:"traces"` // that were taken
	Created     int         `json:"created"`
	Revised     int         `json:"revised"`
	Unchanged   int         `json:"unchanged"`
	Labels      int         `json:"labels"`
	Evaluations int         `json:"evaluations"` // queued or refused anew
	Errors      []lineFault `json:"errors"`
	// MoreErrors were left out of the list.
	MoreErrors int `json:"more_errors,omitempty"`
	// Warnings are fields that are not known; they are kept in metadata.
	Warnings []lineFault `json:"warnings,omitempty"`
}

type lineFault struct {
	Line    int    `json:"line"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

// mostFaults bounds the lists of faults in one answer.
const mostFaults = 200

// apiPostTraces takes one object, an array, or NDJSON. 202 means that what is
// counted is on disk; a worker judges it.
func (s *Server) apiPostTraces(c echo.Context) error {
	ctx, actor := c.Request().Context(), user(c).Actor()
	body, err := io.ReadAll(c.Request().Body)
	if err != nil {
		return unreadable(err)
	}
	key, request := c.Request().Header.Get("Idempotency-Key"), ""
	if key != "" {
		request = requestHash(c, body)
		answer, found, err := s.cfg.Store.KeptAnswer(ctx, actor, key, request)
		if err != nil {
			return err
		}
		if found {
			return c.JSONBlob(answer.Status, answer.Body)
		}
	}
	got, err := s.importTraces(c, s.apiProject(c), c.QueryParam("run"), "request", oneLine(body))
	if err != nil {
		return err
	}
	status := http.StatusAccepted
	if got.Traces == 0 && len(got.Errors) > 0 {
		status = http.StatusUnprocessableEntity
	}
	answer, err := json.Marshal(got)
	if err != nil {
		return err
	}
	if key != "" {
		if err := s.cfg.Store.KeepAnswer(ctx, actor, key, request, store.Answered{Status: status, Body: answer}); err != nil {
			return err
		}
	}
	return c.JSONBlob(status, answer)
}

// requestHash ties an idempotency key to what was sent with it.
func requestHash(c echo.Context, body []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", c.Request().Method, c.Request().URL.RequestURI())
	h.Write(body)
	return hex.EncodeToString(h.Sum(nil))
}

// oneLine puts a single object that is written over several lines on one, so
// that the line reader takes it; everything else stays as it came.
func oneLine(body []byte) io.Reader {
	trimmed := bytes.TrimLeftFunc(body, unicode.IsSpace)
	if bytes.HasPrefix(trimmed, []byte("{")) && json.Valid(trimmed) {
		var compact bytes.Buffer
		if json.Compact(&compact, trimmed) == nil {
			return &compact
		}
	}
	return bytes.NewReader(body)
}

// importBatch is how many traces one transaction takes.
const importBatch = 200

// importTraces reads, plans and stores traces in batches. Bad lines are told
// and left out; what was stored before a fault of ours stays stored.
func (s *Server) importTraces(c echo.Context, project, run, name string, src io.Reader) (received, error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	got := received{Errors: []lineFault{}}
	h, policy, err := s.judging(ctx, project)
	if err != nil {
		return got, err
	}
	reader, err := tracefile.NewReader(name, src, tracefile.Options{Judge: h.Judge, Stakes: policy.StakesOf})
	if err != nil {
		return got, &store.FieldError{Field: "body", Message: err.Error()}
	}
	var batch []store.ImportItem
	flush := func() error {
		if len(batch) == 0 {
			return nil
		}
		imported, err := s.cfg.Store.ImportTraces(ctx, actor, project, batch)
		if err != nil {
			return err
		}
		batch = batch[:0]
		got.count(imported)
		s.cfg.Wake()
		return nil
	}
	for {
		t, _, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		var bad *tracefile.LineError
		if errors.As(err, &bad) {
			got.fault(lineFault{Line: bad.Line, Field: bad.Field, Message: bad.Msg})
			continue
		}
		if err != nil {
			return got, err
		}
		if run != "" {
			t.Run = run
		}
		plan, err := h.PlanUnder(&t, policy)
		if err != nil {
			return got, err
		}
		batch = append(batch, store.ImportItem{Trace: t, Plan: plan})
		if len(batch) == importBatch {
			if err := flush(); err != nil {
				return got, err
			}
		}
	}
	for _, w := range reader.Warnings() {
		if len(got.Warnings) < mostFaults {
			got.Warnings = append(got.Warnings, lineFault{Line: w.Line, Field: w.Field, Message: w.Msg})
		}
	}
	return got, flush()
}

// judging is what a project judges with: its harness, and its policy as it is
// now.
func (s *Server) judging(ctx context.Context, project string) (*harness.Harness, *judge.Policy, error) {
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	p, err := s.cfg.Store.ProjectNamed(ctx, project)
	if err != nil {
		return nil, nil, err
	}
	return h, &p.Policy, nil
}

// checkTraces reads a whole file for its faults and stores nothing.
func (s *Server) checkTraces(ctx context.Context, project, name string, src io.Reader) (received, error) {
	var got received
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return got, err
	}
	reader, err := tracefile.NewReader(name, src, tracefile.Options{Judge: h.Judge, Stakes: h.StakesOf})
	if err != nil {
		return got, &store.FieldError{Field: "file", Message: err.Error()}
	}
	for {
		_, _, err := reader.Next()
		var bad *tracefile.LineError
		switch {
		case errors.Is(err, io.EOF):
			return got, nil
		case errors.As(err, &bad):
			got.fault(lineFault{Line: bad.Line, Field: bad.Field, Message: bad.Msg})
		case err != nil:
			return got, err
		}
	}
}

func (r *received) count(imported []store.Imported) {
	for _, i := range imported {
		r.Traces++
		switch {
		case i.Created:
			r.Created++
		case i.Revised:
			r.Revised++
		default:
			r.Unchanged++
		}
		r.Labels += i.Labels
		r.Evaluations += i.Evaluations
	}
}

func (r *received) fault(f lineFault) {
	if len(r.Errors) == mostFaults {
		r.MoreErrors++
		return
	}
	r.Errors = append(r.Errors, f)
}

// traceView is a trace with what was made of it. Labels, recorded judgments
// and verdicts are left out while they are sealed for the caller.
type traceView struct {
	judge.Trace
	Revision    int              `json:"revision"`
	Hashes      judge.Hashes     `json:"hashes"`
	Sealed      bool             `json:"sealed,omitempty"`
	Evaluations []evaluationLink `json:"evaluations"`
	// NotJudged says of each judge without an evaluation why that is so.
	NotJudged []judge.Why `json:"not_judged"`
}

type evaluationLink struct {
	ID     string       `json:"evaluation_id"`
	Judge  string       `json:"judge"`
	Engine string       `json:"engine"`
	Model  string       `json:"model"`
	Status judge.Status `json:"status"`
	// RefusedField and Message say what the trace lacks for this judge.
	RefusedField string `json:"refused_field,omitempty"`
	Message      string `json:"message,omitempty"`
}

func (s *Server) apiGetTrace(c echo.Context) error {
	revision, err := intParam(c, "revision", 0, 1, anyRevision)
	if err != nil {
		return err
	}
	v, err := s.cfg.Store.GetTrace(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "id"), revision)
	if err != nil {
		return err
	}
	out := traceView{Trace: v.Trace, Revision: v.Revision, Hashes: v.Hashes, Sealed: v.Sealed, Evaluations: []evaluationLink{}}
	for _, e := range v.Evaluations {
		out.Evaluations = append(out.Evaluations, evaluationLink{ID: e.ID, Judge: e.Judge, Engine: e.Engine, Model: e.Model, Status: e.Status,
			RefusedField: e.RefusedField, Message: e.Message})
	}
	if out.NotJudged, err = s.whyNot(c.Request().Context(), s.apiProject(c), &v.Trace, v.Evaluations); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, out)
}

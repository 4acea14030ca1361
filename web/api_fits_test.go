package web_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/store"
)

// schema is as much of JSON Schema as the description uses for objects.
type schema struct {
	Ref        string            `json:"$ref"`
	AllOf      []schema          `json:"allOf"`
	Properties map[string]schema `json:"properties"`
	Items      *schema           `json:"items"`
}

// TestAnswersFitTheirDescription: no field of an answer is missing in
// openapi.json, however deep; and what an answer about a run is said to have it has.
func TestAnswersFitTheirDescription(t *testing.T) {
	s := newSite(t)
	_, token := s.user("max@example.org", store.Admin)
	s.aRun()
	s.api(token, http.MethodPost, "/api/v1/judges/answer-equivalence/rerun", `{"kind": "version", "engine": "rules", "estimate": false}`)
	var doc struct {
		Paths map[string]map[string]struct {
			Responses map[string]struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	s.api("", http.MethodGet, "/api/v1/openapi.json", nil).json(t, &doc)
	properties := func(of schema) map[string]schema {
		all := map[string]schema{}
		var add func(schema)
		add = func(sc schema) {
			if sc.Ref != "" {
				add(doc.Components.Schemas[strings.TrimPrefix(sc.Ref, "#/components/schemas/")])
			}
			for _, part := range sc.AllOf {
				add(part)
			}
			maps.Copy(all, sc.Properties)
		}
		add(of)
		return all
	}
	var undescribed func(at string, sc schema, value any) []string
	undescribed = func(at string, sc schema, value any) (missing []string) {
		switch v := value.(type) {
		case []any:
			if sc.Items != nil {
				for _, item := range v {
					missing = append(missing, undescribed(at+"[]", *sc.Items, item)...)
				}
			}
		case map[string]any:
			known := properties(sc)
			if len(known) == 0 {
				return nil // described as any object
			}
			for name, field := range v {
				if fs, ok := known[name]; ok {
					missing = append(missing, undescribed(at+"."+name, fs, field)...)
				} else {
					missing = append(missing, at+"."+name)
				}
			}
		}
		return missing
	}
	for _, c := range []struct{ path, at, method, body string }{
		{"/api/v1/runs/{name}", "/api/v1/runs/renal-12", "get", ""},
		{"/api/v1/traces/{id}", "/api/v1/traces/asked", "get", ""},
		{"/api/v1/evaluations", "/api/v1/evaluations", "get", ""},
		{"/api/v1/judges", "/api/v1/judges", "get", ""},
		{"/api/v1/judges/{name}", "/api/v1/judges/citations", "get", ""},
		{"/api/v1/judges/{name}/health", "/api/v1/judges/citations/health", "get", ""},
		{"/api/v1/judges/{name}/rerun", "/api/v1/judges/citations/rerun", "post", `{"kind": "version", "engine": "rules", "estimate": true}`},
		{"/api/v1/calibration/{judge}/thresholds", "/api/v1/calibration/answer-equivalence/thresholds", "get", ""},
		{"/api/v1/reruns", "/api/v1/reruns", "get", ""},
		{"/api/v1/policy", "/api/v1/policy", "get", ""},
		{"/api/v1/policy/dry-run", "/api/v1/policy/dry-run", "post", `{}`},
		{"/api/v1/runs/{name}/budget", "/api/v1/runs/renal-12/budget", "post", `{"budget_usd": 4}`},
	} {
		r := s.api(token, strings.ToUpper(c.method), c.at, c.body)
		if r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s: %s", c.at, r.Status, r.body)
			continue
		}
		var answer any
		r.json(t, &answer)
		described := doc.Paths[c.path][c.method].Responses["200"].Content["application/json"].Schema
		missing := undescribed("", described, answer)
		slices.Sort(missing)
		if diff := cmp.Diff([]string(nil), slices.Compact(missing)); diff != "" {
			t.Errorf("%s: fields that the description lacks (-want +got):\n%s", c.path, diff)
		}
		if len(properties(described)) == 0 {
			t.Errorf("%s: the answer is not described", c.path)
		}
	}
	var run map[string]json.RawMessage
	s.api(token, http.MethodGet, "/api/v1/runs/renal-12", nil).json(t, &run)
	got, want := slices.Sorted(maps.Keys(run)), slices.Sorted(maps.Keys(properties(doc.Components.Schemas["Run"])))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a run (-described +sent):\n%s", diff)
	}
}

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestWorkForAnEndpointThatIsNotHere: a command without it judges the rest, says
// what waits and for what, and the next one that has it goes on.
func TestWorkForAnEndpointThatIsNotHere(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		said string
	}{
		"the default one": {[]string{"--engine", "openai"}, "2 evaluations still queued for the default model endpoint"},
		"a named one":     {[]string{"--engine", "openai", "--endpoint", "ward-7"}, "2 evaluations still queued for the endpoint ward-7"},
	} {
		t.Run(name, func(t *testing.T) {
			home := newHome(t)
			server, asked := endpoint(t, func(int64) (int, string) { return http.StatusOK, equivalent })
			with := map[string]string{
				"OPENAI_API_KEY": "sk-of-this-test", "OPENAI_BASE_URL": server.URL + "/v1", "COUNTERSIGN_MODEL": "grader",
				"COUNTERSIGN_CONFIG": writeFile(t, "countersign.yaml", "endpoints: {ward-7: {base_url: \""+server.URL+"/v1\"}}\n"),
			}
			for k, v := range home.env {
				if _, ours := with[k]; !ours {
					with[k] = v
				}
			}
			file := writeFile(t, "t.jsonl", unlike(2))
			mustRun(t, exitOK, with, append(append([]string{"import"}, tt.args...), file)...)

			c := mustRun(t, exitOK, home.env, "import", "--engine", "rules", "--judge", writeFile(t, "more.jsonl", strings.ReplaceAll(unlike(1), "t00", "other")))
			if got := c.messages.String(); !strings.Contains(got, tt.said) {
				t.Errorf("messages %q, want %q in them", got, tt.said)
			}
			if n := asked.Load(); n != 0 {
				t.Errorf("%d calls were made", n)
			}
			for _, e := range exported(t, home, store.DefaultProject) {
				if e.Engine == judge.EngineOpenAI && e.Status != judge.Queued || e.Engine == judge.EngineRules && e.Status == judge.Queued {
					t.Errorf("%s by %s: %s, %s", e.TraceID, e.Engine, e.Status, e.Error)
				}
			}

			c = mustRun(t, exitOK, with, append(append([]string{"import", "--judge"}, tt.args...), file)...)
			if got := c.messages.String(); strings.Contains(got, "still queued") {
				t.Errorf("messages %q after everything was judged", got)
			}
			judged := 0
			for _, e := range exported(t, home, store.DefaultProject) {
				if e.Engine == judge.EngineOpenAI && e.Verdict == judge.Pass {
					judged++
				}
			}
			if judged != 2 {
				t.Errorf("%d are judged by the endpoint, want 2", judged)
			}
		})
	}
}

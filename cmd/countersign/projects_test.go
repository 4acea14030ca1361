package main

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// exported are the evaluations of a project.
func exported(t *testing.T, h home, project string) []judge.Evaluation {
	t.Helper()
	return evaluations(t, mustRun(t, exitOK, h.env, "export", "evaluations", "--project", project).out.String())
}

// waitAll waits until so many evaluations of a project are judged.
func waitAll(t *testing.T, h home, project string, n int) []judge.Evaluation {
	t.Helper()
	var all []judge.Evaluation
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		all = exported(t, h, project)
		waiting := len(all) < n
		for _, e := range all {
			waiting = waiting || e.Status == judge.Queued || e.Status == judge.Judging
		}
		if !waiting {
			return all
		}
	}
	t.Fatalf("project %s: %d evaluations were not all judged within a minute: %+v", project, n, all)
	return nil
}

// drawAll makes a project send every accepted evaluation to a person, or none.
func drawAll(t *testing.T, db *store.Store, project string, share float64) {
	t.Helper()
	p, err := db.EnsureProject(t.Context(), store.Operator("test"), project)
	if err != nil {
		t.Fatal(err)
	}
	p.Policy.RandomAudit, p.Policy.BoundaryAudit = share, 0
	if _, err := db.SetPolicy(t.Context(), store.Operator("test"), project, p.Policy, "for the test"); err != nil {
		t.Fatal(err)
	}
}

// TestServeJudgesEachProject: a server of one project judges what is queued in
// another by that one's judges and under that one's policy, and follows a policy
// that changes while it runs.
func TestServeJudgesEachProject(t *testing.T) {
	home := newHome(t)
	db := home.open(t)
	defer db.Close()
	drawAll(t, db, "default", 0)
	drawAll(t, db, "other", 1)
	_, stop := start(t, newConsole(t, home.env, "serve", "--addr", "127.0.0.1:0"))
	defer stop()

	trace := func(id, judges string) string {
		return `{"id":"` + id + `","output":"it is four","reference":"it is four","judges":[` + judges + `]}` + "\n"
	}
	// The judge mood is another one in each project; tone is known to one only.
	mustRun(t, exitOK, home.env, "import", "--judges", writeFile(t, "mood.yaml", moodJudge("first")),
		writeFile(t, "a.jsonl", trace("a", `"mood","reference"`)))
	tone := strings.Replace(moodJudge("tone"), "name: mood", "name: tone", 1)
	mustRun(t, exitOK, home.env, "import", "--project", "other", "--judges", writeFile(t, "mood.yaml", moodJudge("second")),
		"--judges", writeFile(t, "tone.yaml", tone), writeFile(t, "b.jsonl", trace("b", `"mood","tone","reference"`)))

	versions := map[string]string{}
	for project, n := range map[string]int{"default": 2, "other": 3} {
		for _, e := range waitAll(t, home, project, n) {
			for _, r := range e.Reasons {
				if r.Code == judge.ReasonJudgeFailed {
					t.Errorf("%s of project %s failed: %s", e.Judge, project, r.Detail)
				}
			}
			switch drawn := len(e.Reasons) == 1 && e.Reasons[0].Code == judge.ReasonRandomAudit; {
			case e.Judge == "mood":
				versions[project] = e.PromptVersion
			case e.Judge == "reference" && drawn != (project == "other"):
				t.Errorf("reference in project %s has the reasons %v", project, e.Reasons)
			}
		}
	}
	if versions["default"] == versions["other"] {
		t.Errorf("both projects were judged by version %q of mood", versions["default"])
	}

	drawAll(t, db, "default", 1)
	mustRun(t, exitOK, home.env, "import", writeFile(t, "c.jsonl", trace("c", `"reference"`)))
	for _, e := range waitAll(t, home, "default", 3) {
		if e.TraceID == "c" && (len(e.Reasons) != 1 || e.Reasons[0].Code != judge.ReasonRandomAudit || e.PolicyVersion < 3) {
			t.Errorf("after the policy changed: reasons %v under version %d", e.Reasons, e.PolicyVersion)
		}
		if e.TraceID == "a" && e.PolicyVersion != 2 {
			t.Errorf("%s of %s was judged under version 2 and now names version %d", e.Judge, e.TraceID, e.PolicyVersion)
		}
	}
}

// TestOldBuiltinVersion: what was planned with a version of a built-in judge that
// this program no longer has is given to a person, and never judged by another
// version under the old one's name.
func TestOldBuiltinVersion(t *testing.T) {
	home := newHome(t)
	db := home.open(t)
	p, err := db.EnsureProject(t.Context(), store.Operator("test"), store.DefaultProject)
	if err != nil {
		t.Fatal(err)
	}
	const old = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	reference := builtinNamed(t, "reference")
	reference.PromptVersion = old
	if err := db.SaveJudges(t.Context(), store.Operator("test"), p.Name, []judge.Judge{reference}); err != nil {
		t.Fatal(err)
	}
	item := store.ImportItem{
		Trace: judge.Trace{ID: "a", Output: "four", Reference: "four"},
		Plan:  []judge.Planned{{Judge: "reference", PromptVersion: old, Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}},
	}
	if _, err := db.ImportTraces(t.Context(), store.Operator("test"), p.Name, []store.ImportItem{item}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	mustRun(t, exitOK, home.env, "import", "--judge", writeFile(t, "t.jsonl", ""))
	got := exported(t, home, store.DefaultProject)
	if len(got) != 1 || got[0].PromptVersion != old || got[0].Verdict != "" || len(got[0].Reasons) != 1 ||
		got[0].Reasons[0].Code != judge.ReasonJudgeFailed || !strings.Contains(got[0].Reasons[0].Detail, "re-run") {
		t.Errorf("judged as %+v, want judge_failed with how to go on", got)
	}
}

// builtinNamed is a built-in judge.
func builtinNamed(t *testing.T, name string) judge.Judge {
	t.Helper()
	all, err := judgesFlag{}.builtins(&newConsole(t, nil).state)
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range all {
		if j.Name == name {
			return j
		}
	}
	t.Fatalf("no built-in judge %s", name)
	return judge.Judge{}
}

// TestEndpointOfPolicy: a trace is sent only to endpoints that its project's
// policy names; for the others it is refused, and nothing is called.
func TestEndpointOfPolicy(t *testing.T) {
	home := newHome(t)
	var open, ward atomic.Int64
	count := func(n *atomic.Int64) func(int64) (int, string) {
		return func(int64) (int, string) { n.Add(1); return http.StatusOK, equivalent }
	}
	first, _ := endpoint(t, count(&open))
	second, _ := endpoint(t, count(&ward))
	db := home.open(t)
	p, err := db.EnsureProject(t.Context(), store.Operator("test"), store.DefaultProject)
	if err != nil {
		t.Fatal(err)
	}
	p.Policy.Endpoints, p.Policy.RandomAudit, p.Policy.BoundaryAudit = []string{"ward-7"}, 0, 0
	if _, err := db.SetPolicy(t.Context(), store.Operator("test"), p.Name, p.Policy, "patient data stays here"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	config := writeFile(t, "countersign.yaml", "endpoints:\n  ward-7: {base_url: "+second.URL+"/v1, prices: {grader: {prompt_usd: 1, completion_usd: 1}}}\n")
	file := writeFile(t, "t.jsonl", `{"id":"a","output":"it is four","reference":"four is what it is","judges":["reference"]}`)
	home.env["OPENAI_API_KEY"], home.env["OPENAI_BASE_URL"] = "sk-of-this-test", first.URL+"/v1"
	args := []string{"--config", config, "import", "--judge", "--model", "grader", file}

	c := mustRun(t, exitOK, home.env, args...)
	if got, want := c.messages.String(), "not one that the project's policy names"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	if got, want := c.out.String(), "0 evaluations queued and 1 refused for where it would go"; !strings.Contains(got, want) {
		t.Errorf("summary %q, want %q in it", got, want)
	}
	c = mustRun(t, exitOK, home.env, append(args, "--endpoint", "ward-7")...)
	if !strings.Contains(c.out.String(), "1 evaluation judged") {
		t.Errorf("summary %q, want one evaluation judged", c.out)
	}
	if open.Load() != 0 || ward.Load() != 1 {
		t.Errorf("%d calls to the endpoint that is not named and %d to ward-7, want 0 and 1", open.Load(), ward.Load())
	}
	for _, e := range exported(t, home, store.DefaultProject) {
		refused := e.Endpoint == ""
		if (e.Status == judge.Refused) != refused || (e.RefusedField == judge.RefusedEndpoint) != refused {
			t.Errorf("at endpoint %q: %s, refused for %q", e.Endpoint, e.Status, e.RefusedField)
		}
	}
	mustRun(t, exitUsage, home.env, append(args, "--endpoint", "ward-8")...)
}

// TestImportJudgesItsProject: judging at once does not spend what waits in
// another project.
func TestImportJudgesItsProject(t *testing.T) {
	home := newHome(t)
	file := writeFile(t, "t.jsonl", `{"id":"a","output":"four","reference":"four","judges":["reference"]}`)
	mustRun(t, exitOK, home.env, "import", "--project", "other", file)
	c := mustRun(t, exitOK, home.env, "import", "--judge", file)
	if !strings.Contains(c.out.String(), "1 evaluation judged") {
		t.Errorf("summary %q, want one evaluation judged", c.out)
	}
	if got := exported(t, home, "other"); len(got) != 1 || got[0].Status != judge.Queued {
		t.Errorf("in the other project: %+v, want it queued", got)
	}
}

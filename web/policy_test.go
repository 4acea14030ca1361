package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// formOf reads a form as a browser would send it untouched.
func formOf(t *testing.T, page, selector string) url.Values {
	t.Helper()
	form := url.Values{}
	for _, n := range find(t, page, selector+" input, "+selector+" select, "+selector+" textarea") {
		name := attr(n, "name")
		switch {
		case name == "_csrf", has(n, "disabled"):
		case n.Data == "textarea":
			form.Set(name, rawText(n))
		case n.Data == "select":
			for o := range n.Descendants() {
				if o.Data == "option" && has(o, "selected") {
					form.Set(name, attr(o, "value"))
				}
			}
		case attr(n, "type") == "radio" || attr(n, "type") == "checkbox":
			if has(n, "checked") {
				form.Set(name, attr(n, "value"))
			}
		default:
			form.Set(name, attr(n, "value"))
		}
	}
	return form
}

func (s *site) policy() judge.Policy {
	s.t.Helper()
	p, err := s.store.ProjectNamed(context.Background(), "default")
	if err != nil {
		s.t.Fatal(err)
	}
	return p.Policy
}

const (
	fieldsForm = `form:has([value=fields])`
	yamlForm   = `form:has([value=yaml])`
)

// TestPolicyFormsSayTheSame: either form sent as it came says the policy that there
// is, whatever that is, and so makes no version.
func TestPolicyFormsSayTheSame(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	v := s.signIn("lea@example.org")
	for name, text := range map[string]string{
		"default": "lease_minutes: 30\n",
		"much": "audit: {random: 0.07, boundary: 0.333, boundary_width: 0.04, seed: \"x: y\"}\nblind: {mode: share, share: 0.8, rules: [{reason: critical_error, stakes: high, mode: always}]}\n" +
			"due_hours: {high: 4, standard: 100}\nlease_minutes: 7\nhigh_stakes_domains: [tax]\nendpoints: [ward-7, api.example.org]\nmodels: [a, {model: b, endpoint: ward-7}]\nsamples: 3\n" +
			"temperature: 0.4\nbudget_usd: 12.5\ndisagreement: {between: models, recorded: true}\nreasons: {ambiguous_score: off, misattribution: {high: major}}\n" +
			"opinions: {default: 2, rules: [{stakes: high, n: 3}]}\ncannot_judge: 1\nundo_seconds: 0\nreason_codes: [{code: other, text: Other, severity: minor}]\n" +
			"rules: [{judge: citations, domain: medical, band: [0.5, 0.9], below: 0.85, reasons: {below_threshold: on}}]\n",
		"trust":   "trust: {min_labels: 200, slice_kappa: 0.4}\nrelease: {min_pass_rate: 0.925}\nrules: [{judge: citations, trust: {min_kappa: 0.7, slice_labels: 50}}]\n",
		"nowhere": "endpoints: []\nhigh_stakes_domains: []\n",
	} {
		t.Run(name, func(t *testing.T) {
			for _, form := range []string{fieldsForm, yamlForm} {
				want, err := judge.ParsePolicy("want", []byte(text))
				if err != nil {
					t.Fatal(err)
				}
				want.Version = s.policy().Version
				set, err := s.store.SetPolicy(context.Background(), store.Operator("test"), "default", want, "")
				if err != nil {
					t.Fatal(err)
				}
				want = set.Policy
				sent := formOf(t, v.get("/policy").body, form)
				sent.Set("comment", "as it was")
				r := v.post("/policy", sent)
				if r.StatusCode != http.StatusOK || r.Request.URL.Path != "/policy" || r.Request.Method != http.MethodGet {
					t.Fatalf("%s: %s: %s", form, r.Status, textOf(find(t, r.body, "main")[0]))
				}
				if !strings.Contains(r.body, "Nothing was changed.") {
					t.Errorf("%s: the page does not say that nothing was changed", form)
				}
				got := s.policy()
				if diff := cmp.Diff(string(want.YAML()), string(got.YAML())); diff != "" {
					t.Errorf("%s (-want +got):\n%s", form, diff)
				}
			}
		})
	}
}

// TestPolicyFaults: every fault is told at once, with its line, nothing is
// stored, and what was typed stands in the form still.
func TestPolicyFaults(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	v := s.signIn("lea@example.org")
	before := s.policy()
	page := v.get("/policy").body
	for _, c := range []struct {
		name, form string
		set        map[string]string
		want       []string
	}{
		{"yaml", yamlForm, map[string]string{"yaml": "audit: {random: lots}\nlease: 3\n"}, []string{"Line 1:", "Line 2:"}},
		{"never off", yamlForm, map[string]string{"yaml": "reasons: {judge_failed: off}\n"}, []string{"Line 1:", "a trace whose judge failed"}},
		{"fields", fieldsForm, map[string]string{"random_audit": "lots", "due_high": "1.5", "samples": "99", "min_kappa": "2", "slice_labels": "3"}, []string{"The lower bound of kappa is 2", "The labels of a domain or stakes is 3", `The random audit is "lots"`, `The due time at high stakes is "1.5"`, "The number of calls is 99"}},
		{"no call", fieldsForm, map[string]string{"samples": "0"}, []string{`The number of calls is "0": it is a number from 1 to 25`}},
		{"all of the text", yamlForm, map[string]string{"yaml": "lease_minutes: 0\nlease: 3\nsamples: 26\n"}, []string{"Line 1:", "Line 2:", "Line 3:"}},
		{"bounds", fieldsForm, map[string]string{"samples": "99"}, []string{"The number of calls is 99"}},
	} {
		sent := formOf(t, page, c.form)
		for k, val := range c.set {
			sent.Set(k, val)
		}
		r := v.post("/policy", sent)
		if r.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %s, want 422", c.name, r.Status)
			continue
		}
		alert := textOf(find(t, r.body, "[role=alert]")[0])
		for _, want := range c.want {
			if !strings.Contains(alert, want) {
				t.Errorf("%s: the faults are %q, want %q in it", c.name, alert, want)
			}
		}
		again := formOf(t, r.body, c.form)
		for k, val := range c.set {
			if strings.TrimSpace(again.Get(k)) != strings.TrimSpace(val) {
				t.Errorf("%s: %s is %q in the form, want what was typed: %q", c.name, k, again.Get(k), val)
			}
		}
	}
	if diff := cmp.Diff(before, s.policy()); diff != "" {
		t.Errorf("the policy changed (-before +after):\n%s", diff)
	}
}

// TestPolicyConflict: who was slower sees both policies, loses nothing, and can
// replace the other one knowingly.
func TestPolicyConflict(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("max@example.org", store.Lead)
	lea, max := s.signIn("lea@example.org"), s.signIn("max@example.org")
	slow := formOf(t, lea.get("/policy").body, yamlForm)
	fast := formOf(t, max.get("/policy").body, fieldsForm)
	fast.Set("lease_minutes", "11")
	max.post("/policy", fast)
	slow.Set("yaml", "lease_minutes: 22\n")
	slow.Set("comment", "shorter")
	r := lea.post("/policy", slow)
	if r.StatusCode != http.StatusConflict {
		t.Fatalf("the slower one: %s, want 409", r.Status)
	}
	alert := textOf(find(t, r.body, "[role=alert]")[0])
	for _, want := range []string{"by max", "lease_minutes: 11"} {
		if !strings.Contains(alert, want) {
			t.Errorf("the conflict says %q, want %q in it", alert, want)
		}
	}
	if got := s.policy().LeaseMinutes; got != 11 {
		t.Errorf("stored are %d minutes, want the faster one's 11", got)
	}
	again := formOf(t, r.body, yamlForm)
	if strings.TrimSpace(again.Get("yaml")) != "lease_minutes: 22" || again.Get("comment") != "shorter" {
		t.Errorf("the form holds %q and %q", again.Get("yaml"), again.Get("comment"))
	}
	lea.post("/policy", again)
	if got := s.policy().LeaseMinutes; got != 22 {
		t.Errorf("after replacing knowingly: %d minutes, want 22", got)
	}
	page := lea.get("/policy")
	if text := textOf(find(t, page.body, ".timeline")[0]); !strings.Contains(text, "shorter") || !strings.Contains(text, "max") {
		t.Errorf("the history says %q", text)
	}
	old := lea.get("/policy?version=1")
	if text := textOf(find(t, old.body, ".notice")[0]); !strings.Contains(text, "Version 1 is shown; version 3 counts now") {
		t.Errorf("an earlier policy: %q", text)
	}
	restored := formOf(t, old.body, yamlForm)
	lea.post("/policy", restored)
	if got := s.policy(); got.LeaseMinutes != judge.DefaultPolicy().LeaseMinutes || got.Version != 4 {
		t.Errorf("restored: version %d with %d minutes", got.Version, got.LeaseMinutes)
	}
}

// TestPolicyByRole: reviewers see nothing of it, auditors read and try it out,
// and only leads change it; what is refused is on record.
func TestPolicyByRole(t *testing.T) {
	s := newSite(t)
	for _, role := range []store.Role{store.Reviewer, store.Lead, store.Auditor, store.Admin} {
		s.user(string(role)+"@example.org", role)
	}
	for role, want := range map[store.Role]struct{ read, dry, save int }{
		store.Reviewer: {http.StatusForbidden, http.StatusForbidden, http.StatusForbidden},
		store.Auditor:  {http.StatusOK, http.StatusOK, http.StatusForbidden},
		store.Lead:     {http.StatusOK, http.StatusOK, http.StatusOK},
		store.Admin:    {http.StatusOK, http.StatusOK, http.StatusOK},
	} {
		v := s.signIn(string(role) + "@example.org")
		page := v.get("/policy")
		if page.StatusCode != want.read || v.get("/policy.yaml").StatusCode != want.read {
			t.Errorf("%s reads: %s, want %d", role, page.Status, want.read)
		}
		if tab := len(find(t, page.body, `.mainnav a[href="/policy"]`)) == 1; tab != (want.read == http.StatusOK) {
			t.Errorf("%s: tab shown %v", role, tab)
		}
		form := func() url.Values {
			return url.Values{"form": {"yaml"}, "version": {"0"}, "yaml": {"lease_minutes: 9"}, "last": {"10"}}
		}
		if r := v.post("/policy/dry-run", form()); r.StatusCode != want.dry {
			t.Errorf("%s tries out: %s, want %d", role, r.Status, want.dry)
		}
		sent := form()
		if page.StatusCode == http.StatusOK {
			sent = formOf(t, v.get("/policy").body, yamlForm)
			sent.Set("yaml", "lease_minutes: "+strconv.Itoa(10+len(role))+"\n")
		}
		before := s.policy().Version
		if r := v.post("/policy", sent); r.StatusCode != want.save {
			t.Errorf("%s saves: %s, want %d", role, r.Status, want.save)
		}
		if changed := s.policy().Version != before; changed != (want.save == http.StatusOK) {
			t.Errorf("%s: changed %v", role, changed)
		}
		if button := len(find(t, page.body, yamlForm+" .primary")) == 1; button != (want.save == http.StatusOK) {
			t.Errorf("%s: the button to save is shown: %v", role, button)
		}
	}
	events, err := s.store.AuditAfter(context.Background(), store.Operator("test"), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	denied := 0
	for _, e := range events {
		if e.Action == "policy.changed" && !e.Allowed {
			denied++
		}
	}
	if denied != 2 {
		t.Errorf("%d refused changes are on record, want the reviewer's and the auditor's", denied)
	}
}

// TestDryRunOnThePage: a lead sees what a policy would have changed, with names
// and hours, and nothing is stored; what they may still review blind is left out.
func TestDryRunOnThePage(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("ann@example.org", store.Auditor)
	s.load(citationTrace("t1"), citationTrace("t2"), recordedTrace("r1", "Yes"), recordedTrace("r2", "Yes"))
	off := "audit: {random: 0, boundary: 0}\nreasons: {misattribution: off, critical_error: off, ambiguous_score: off, below_threshold: off, inconsistent_output: off}\n"
	run := func(email string) string {
		t.Helper()
		v := s.signIn(email)
		sent := formOf(t, v.get("/policy").body, yamlForm)
		sent.Set("yaml", off)
		r := v.post("/policy/dry-run", sent)
		if r.StatusCode != http.StatusOK || r.Request.URL.Path != "/policy/dry-run" {
			t.Fatalf("%s: %s", email, r.Status)
		}
		if again := formOf(t, r.body, yamlForm); strings.TrimSpace(again.Get("yaml")) != strings.TrimSpace(off) {
			t.Errorf("the form holds %q, want what was tried", again.Get("yaml"))
		}
		return textOf(find(t, r.body, "#dry-run")[0])
	}
	text := run("ann@example.org")
	for _, want := range []string{"4 evaluations routed again", "Sent to people", "2", "−2", "No longer sent to people: 2", "t1", "t2", "Misattribution", "assumed"} {
		if !strings.Contains(text, want) {
			t.Errorf("the auditor's dry run says %q, want %q in it", text, want)
		}
	}
	text = run("lea@example.org")
	if !strings.Contains(text, "2 are left out, because you may still review them blind") || strings.Contains(text, "t1") || strings.Contains(text, "Misattribution") {
		t.Errorf("the lead's dry run tells of what they may review blind: %q", text)
	}
	if s.policy().Version != 1 {
		t.Error("a dry run stored a policy")
	}
}

// TestPolicyAheadOfItsJudges: a rule for a judge that may come later is taken, and
// the page says what it means for now, before it is saved and after.
func TestPolicyAheadOfItsJudges(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	v := s.signIn("lea@example.org")
	const ahead = "rules: [{judge: tomorrow, below: 0.5}, {judge: citations, samples: 3}]\n"
	for _, path := range []string{"/policy/dry-run", "/policy"} {
		sent := formOf(t, v.get("/policy").body, yamlForm)
		sent.Set("yaml", ahead)
		r := v.post(path, sent)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", path, r.Status)
		}
		var told string
		for _, n := range find(t, r.body, ".notice") {
			told += textOf(n)
		}
		for _, want := range []string{`Rule 1 is for the judge "tomorrow"`, "models and samples change nothing here"} {
			if !strings.Contains(told, want) {
				t.Errorf("%s says %q, want %q in it", path, told, want)
			}
		}
		if strings.Contains(told, "Rule 2") {
			t.Errorf("%s warns of a judge that there is: %q", path, told)
		}
	}
	if got := s.policy(); got.Version != 2 || len(got.Rules) != 2 {
		t.Errorf("the policy is version %d with %d rules, want version 2 with 2", got.Version, len(got.Rules))
	}
}

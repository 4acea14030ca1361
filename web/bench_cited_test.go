package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

// quotedTrace has each kind of quotation, and a report whose words stand nowhere
// else.
func quotedTrace() judge.Trace {
	out := []string{
		`1. The formulary says to "offer anticoagulation to people with a score of 2 or more" [1].`,
		`2. It says that "in patients with serum creatinine of 133 micromol/L or more, the recommended dose is 2.5 mg taken twice daily" [2].`,
		`3. It adds that "patients who meet only one of these conditions may receive 5 mg twice daily" [2].`,
		`4. The panel held that "every reduced dose halves major bleeding at once" [1].`,
		`5. Kidneys are looked at once a year [2], and a cohort agrees [9].`,
	}
	type evaluation map[string]any
	say := func(id string, step int, exists, quote bool, fidelity, support string, flagged bool) evaluation {
		return evaluation{"citation_id": id, "reasoning_step_index": step, "reasoning_step_text": out[step-1], "explanation": "an ocelot looked at it", "citation_exists": exists,
			"quote_accurate": quote, "context_fidelity": fidelity, "claim_support_strength": support, "flagged": flagged}
	}
	flag := func(id string, step int, kind, severity string) map[string]any {
		return map[string]any{"citation_id": id, "reasoning_step_index": step, "detail": "the walrus of " + kind, "flag_type": kind, "severity": severity}
	}
	report, err := json.Marshal(map[string]any{
		"citation_evaluations": []evaluation{
			say("1", 1, true, true, "accurate", "fully_supported", false), say("2", 2, true, true, "accurate", "fully_supported", false),
			say("2", 3, true, true, "accurate", "fully_supported", false), say("1", 4, true, false, "accurate", "unsupported", true),
			say("2", 5, true, true, "accurate", "fully_supported", false), say("9", 5, false, true, "accurate", "unsupported", true),
		},
		"misattribution_flags": []map[string]any{flag("1", 4, "quote_mismatch", "major"), flag("1", 4, "unsupported", "major"), flag("9", 5, "citation_not_found", "critical"), flag("9", 5, "unsupported", "major")},
		"summary":              "A zebra.", "total_citations_evaluated": 6, "overall_citation_accuracy_score": 4.0 / 6,
	})
	if err != nil {
		panic(err)
	}
	t := reportedTrace("cited", "citations", string(report))
	t.Domain, t.Question, t.Output = "medical", "Which dose?", strings.Join(out, "\n")
	t.Sources = []judge.Source{
		{ID: "1", Title: "Formulary, atrial fibrillation", Text: "Assess the risk of stroke. Offer anticoagulation to people with a score of 2 or more, taking bleeding risk into account."},
		{ID: "2", Title: "Formulary, apixaban", URL: "https://formulary.example/2", Text: "In patients with serum creatinine of 133 micromol/L or more who are also 80 years or older, the recommended dose is 2.5 mg taken twice daily. " +
			"Patients who meet only one of these conditions should receive 5 mg twice daily. Kidneys are to be looked at once a year. " + strings.Repeat("Other advice follows in this long monograph. ", 200)},
	}
	return t
}

// alignedTrace is a solution beside its reference: one step the same, one missing,
// one wrong, one besides, and one that the report is silent about.
func alignedTrace() judge.Trace {
	t := reportedTrace("aligned", "steps", `{"reference_step_count": 3, "candidate_step_count": 5, "step_alignments": [
		{"reference_step_index": 1, "reference_step_summary": "There are 60 litres.", "candidate_step_indices": [1], "explanation": "an ocelot, 60", "alignment_judgment": "CORRECT"},
		{"reference_step_index": 2, "reference_step_summary": "Room for 180 litres.", "candidate_step_indices": [], "explanation": "the walrus left it out", "alignment_judgment": "MISSING"},
		{"reference_step_index": 3, "reference_step_summary": "15 minutes.", "candidate_step_indices": [3, 4], "explanation": "the walrus has 16", "alignment_judgment": "INCORRECT"}],
		"unaligned_candidate_steps": [{"candidate_step_index": 2, "candidate_step_summary": "The pump is red.", "explanation": "an ocelot is of no use", "classification": "EXTRA_IRRELEVANT"},
			{"candidate_step_index": 5, "candidate_step_summary": "Done.", "explanation": "an ocelot says the end", "classification": "EXTRA_VALID"}],
		"final_answer_match": false, "overall_assessment": {"critical_errors": [], "summary": "A zebra.", "reasoning_score": 0.42}}`)
	t.Domain, t.Question = "math", "A tank of 240 litres is a quarter full. A pump brings 12 litres a minute. When is it full?"
	t.Reference = "1. It holds 240 ÷ 4 = 60 litres.\n2. It has room for 240 − 60 = 180 litres.\n3. It takes 180 ÷ 12 = 15 minutes.\nThe answer is 15."
	t.Output = "1. It holds 240 ÷ 4 = 60 litres.\n2. The pump is red.\n3. It takes 180 ÷ 12 = 16 minutes.\n4. So 16 minutes are needed.\n5. Done.\nThe answer is 16."
	return t
}

// Words of the two reports alone.
var benchSecrets = []string{"ocelot", "walrus", "zebra", "0.42", "0.67", "EXTRA_", "irrelevant."}

// TestBlindCitationsAndStepsTellNothing: before the first answer no byte of the
// desk, of what the script asks for, or of a source's page holds what the report
// says, while everything can be ruled on; after it both are there.
func TestBlindCitationsAndStepsTellNothing(t *testing.T) {
	for _, tt := range []struct {
		trace  judge.Trace
		beside []string // further addresses of the item
		field  string
		values url.Values
	}{
		{quotedTrace(), []string{"/citations?at=1", "/sources/1", "/sources/2", "?at=4"}, "ruling.citation/2/fidelity", url.Values{"ruling.citation/2/fidelity": {"mismatch"}, "verdict": {"fail"}}},
		{alignedTrace(), []string{"/sources/1", "/citations"}, "ruling.pair/2", url.Values{"ruling.pair/2": {"missing"}, "ruling.first_wrong": {"3"}, "verdict": {"fail"}}},
	} {
		t.Run(tt.trace.ID, func(t *testing.T) {
			s := benchSite(t, judge.BlindAlways, tt.trace)
			v := s.signIn("ada@example.org")
			r := v.post("/queue/next", url.Values{})
			path := r.Request.URL.Path
			pages := map[string]string{"the desk": r.body}
			for _, p := range tt.beside {
				pages[p] = v.get(path + p).body
			}
			for name, page := range pages {
				for _, secret := range benchSecrets {
					if strings.Contains(page, secret) {
						t.Errorf("%s tells %q before the answer", name, secret)
					}
				}
				for _, sign := range []string{".judged", ".by-judge", "abbr.pencil", "[data-agree]"} {
					if n := find(t, page, sign); len(n) > 0 {
						t.Errorf("%s draws %s before the answer: %s", name, sign, textOf(n[0]))
					}
				}
			}
			if n := len(find(t, r.body, `input[name="`+tt.field+`"][form=decision]:not([disabled])`)); n < 3 {
				t.Fatalf("the sealed desk has %d choices in %s", n, tt.field)
			}
			if r := v.post(path+"/decision", tt.values); r.StatusCode != http.StatusOK {
				t.Fatalf("commit: %s %s", r.Status, textOf(find(t, r.body, "main")[0]))
			}
			open := v.get(path).body
			if !strings.Contains(open, "walrus") || len(find(t, open, ".judged")) < 4 {
				t.Errorf("the open desk lacks the judge's rulings: %s", textOf(find(t, open, "main")[0]))
			}
		})
	}
}

// TestCitationsBench: each citation says what comparing found, shows the passage
// with what differs, and leads to its place in the whole source.
func TestCitationsBench(t *testing.T) {
	s := benchSite(t, judge.BlindNever, quotedTrace())
	v := s.signIn("ada@example.org")
	r := v.post("/queue/next", url.Values{})
	page, path := r.body, r.Request.URL.Path

	text := func(selector string) string {
		t.Helper()
		n := find(t, page, selector)
		if len(n) != 1 {
			t.Fatalf("%s: %d elements", selector, len(n))
		}
		return textOf(n[0])
	}
	for selector, want := range map[string]string{
		"#c1 summary .verdict": "Exact", "#c2 summary .verdict": "Near", "#c3 summary .verdict": "Near", "#c4 summary .verdict": "Not found", "#c5 summary .verdict": "No quotation", "#c6 summary .verdict": "No such source",
		"#c1 .passage mark":          "Offer anticoagulation to people with a score of 2 or more",
		"#c2 .passage .omitted":      "left out:who are also 80 years or older",
		"#c2 .match:not(.by-judge)":  "Near match. All 20 quoted words stand in the source, in this order. 7 source words inside the quotation were left out without an ellipsis.",
		"#c3 .passage del":           "quoted otherwise:should",
		"#c3 .quoted ins":            "not in the source:may",
		"#c4 .match.none":            "Not found. The quoted words are not in this source.",
		"#c6 .match.none":            "No such source. No source of this trace has the id 9. It brings 2 sources.",
		"#c6 summary .progress-note": "To check",
		"#source-1 .passage .cite":   "1",
	} {
		if n := find(t, page, selector); selector == "#source-1 .passage .cite" {
			if len(n) != 2 { // citation 1 is found there, citation 4 shown its nearest
				t.Errorf("%s: %d chips, want 2", selector, len(n))
			}
		} else if got := text(selector); got != want {
			t.Errorf("%s: %q, want %q", selector, got, want)
		}
	}
	if got := text("#c4 .unit-body > .fine:first-child"); !strings.HasPrefix(got, "The passage of the source that is nearest to the claim") {
		t.Errorf("the passage of a quotation that is not found is introduced by %q", got)
	}
	if n := find(t, page, "details.citation[open]"); len(n) != 1 {
		t.Errorf("%d citations are open, want the first alone", len(n))
	}

	// A claim with two markers belongs to both citations; chips say how they match.
	var claims []string
	for _, n := range find(t, page, "[data-claim]") {
		for _, a := range n.Attr {
			if a.Key == "data-claim" {
				claims = append(claims, a.Val)
			}
		}
	}
	if got := strings.Join(claims, " "); !strings.Contains(got, "c1") || !strings.Contains(got, "c6") {
		t.Errorf("claims belong to %q", got)
	}
	for selector, n := range map[string]int{".trace a.cite.exact": 1, ".trace a.cite.near": 2, ".trace a.cite.none": 2, ".trace a.cite": 6} {
		if got := len(find(t, page, selector)); got != n {
			t.Errorf("%s: %d, want %d", selector, got, n)
		}
	}

	// The short source is on the page; the long one has its own, at the passage.
	if n := find(t, page, `#c1 a[href="#q1"]`); len(n) != 1 {
		t.Error("citation 1 does not lead to its place in the source below")
	}
	if n := find(t, page, `#c2 a[href="`+path+`/sources/2#q2"][target=_blank]`); len(n) != 1 {
		t.Fatal("citation 2 does not lead to the page of its source")
	}
	source := v.get(path + "/sources/2").body
	if len(find(t, source, "#q2")) != 1 || !strings.Contains(textOf(find(t, source, ".passage")[0]), "long monograph") {
		t.Error("the source's page lacks the place or the text")
	}
	for _, wrong := range []string{"/sources/0", "/sources/3", "/sources/x"} {
		if r := v.get(path + wrong); r.StatusCode != http.StatusNotFound {
			t.Errorf("GET %s: %s", wrong, r.Status)
		}
	}

	// Confirming while a ruling differs is refused; an override keeps the rulings.
	differs := url.Values{"action": {"confirm"}, "ruling.citation/2/fidelity": {"mismatch"}}
	if r := v.post(path+"/decision", differs); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("confirming with a changed ruling: %s", r.Status)
	}
}

// TestStepsBench: the table holds every step of both texts once, in their order,
// with the judge's choice on each; each step can be called the first wrong one.
func TestStepsBench(t *testing.T) {
	s := benchSite(t, judge.BlindNever, alignedTrace())
	v := s.signIn("ada@example.org")
	page := v.post("/queue/next", url.Values{}).body

	var rows []string
	for _, tr := range find(t, page, "table.align tbody tr") {
		var cells []string
		for _, a := range tr.Attr {
			if a.Key == "data-unit" {
				cells = append(cells, a.Val)
			}
		}
		rows = append(rows, strings.Join(cells, ""))
	}
	want := []string{"pair/1", "extra/2", "pair/2", "pair/3", "extra/5", "answer"}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("rows (-want +got)\n%s", diff)
	}
	for _, key := range []string{"pair/1", "pair/2", "pair/3", "extra/2", "answer"} {
		if n := find(t, page, `tr[data-unit="`+key+`"] .ruling-bare .option.judged`); len(n) != 1 {
			t.Errorf("%s: %d choices of the judge", key, len(n))
		}
	}
	for selector, text := range map[string]string{
		"#p2 td:first-child .slab.gap": "Candidate No step does this.", "#x2 td:last-child .slab.gap": "Reference No step of the reference stands beside it.",
		"#p2 .judged": "Material J", "#s4 > div": "So 16 minutes are needed.",
		"#p1 .by-judge": "Judge: correct. an ocelot, 60",
	} {
		n := find(t, page, selector)
		if len(n) != 1 || strings.ReplaceAll(textOf(n[0]), " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("%s: %d elements, want one that says %q", selector, len(n), text)
			for _, x := range n {
				t.Log(textOf(x))
			}
		}
	}
	values := map[string]int{}
	for _, n := range find(t, page, `input[name="ruling.first_wrong"]`) {
		for _, a := range n.Attr {
			if a.Key == "value" {
				values[a.Val]++
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"none": 1, "1": 1, "2": 1, "3": 1, "4": 1, "5": 1}, values); diff != "" {
		t.Errorf("choices of the first wrong step (-want +got)\n%s", diff)
	}
	if n := find(t, page, "#s3 .judged"); len(n) != 1 {
		t.Error("the judge's first wrong step is not marked at step 3")
	}
}

// TestStepsLinedUpBlind: without a report the texts are lined up by their words,
// and every step is still there.
func TestStepsLinedUpBlind(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, alignedTrace())
	page := s.signIn("ada@example.org").post("/queue/next", url.Values{}).body
	for n := 1; n <= 5; n++ {
		if got := len(find(t, page, fmt.Sprintf("#s%d", n))); got != 1 {
			t.Errorf("step %d stands %d times as the first of its kind", n, got)
		}
	}
	if n := find(t, page, "#p1 #s1"); len(n) != 1 {
		t.Error("the same words do not stand side by side")
	}
	if len(find(t, page, ".word.of-none.held")) < 3 {
		t.Error("nothing says that the pairs wait for a ruling")
	}
}

// longTrace has 500 citations in 200 KB.
func longTrace() judge.Trace {
	var out strings.Builder
	for n := 1; n <= 500; n++ {
		fmt.Fprintf(&out, "%d. Patient %d was seen in the clinic and the record says \"the dose of patient %d was set to %d mg after review\" [%d]. %s\n",
			n, n, n, n%90+5, n%20+1, strings.Repeat("The dose was then looked at by two people. ", 6))
	}
	t := judge.Trace{ID: "long", Domain: "medical", Question: "What was given?", Output: out.String(), Judges: []string{"citations"}}
	for i := 1; i <= 20; i++ {
		var text strings.Builder
		for n := i - 1; n <= 500; n += 20 {
			fmt.Fprintf(&text, "In the record the dose of patient %d was set to %d mg after review by the team. ", n, n%90+5)
		}
		t.Sources = append(t.Sources, judge.Source{ID: fmt.Sprint(i), Title: fmt.Sprintf("Record %d", i), Text: text.String()})
	}
	return t
}

// TestVeryManyCitations: the page lists all of them, with what is inside of those
// around the open one; the others are had by the block, or by an address.
func TestVeryManyCitations(t *testing.T) {
	s := benchSite(t, judge.BlindNever, longTrace())
	v := s.signIn("ada@example.org")
	r := v.post("/queue/next", url.Values{})
	path := r.Request.URL.Path
	if got := len(find(t, r.body, "details.citation[data-unit]")); got != 500 {
		t.Fatalf("%d citations are listed, want 500", got)
	}
	if got := len(find(t, r.body, "[data-body-of]")); got != 4 {
		t.Errorf("%d have their insides on the page, want the open one and three after it", got)
	}
	if most := 640 << 10; len(r.body) > most {
		t.Errorf("the page has %d bytes, want at most %d", len(r.body), most)
	}
	block := v.get(path + "/citations?at=305").body
	if n := find(t, block, "[data-body-of]"); len(n) != 20 || len(find(t, block, "[data-body-of=c301]")) != 1 || len(find(t, block, "[data-body-of=c320]")) != 1 {
		t.Errorf("the block of citation 305 has %d", len(n))
	}
	// Without a script the address opens it.
	at := v.get(path + "?at=305").body
	if len(find(t, at, `#c305[open] [name="ruling.citation/305/support"]`)) != 3 || len(find(t, at, "details.citation[open]")) != 1 {
		t.Error("the address of citation 305 does not open it")
	}
	for _, odd := range []string{"?at=-1", "?at=9999", "?at=x", "/citations?at=-5", "/citations?at=99999"} {
		if r := v.get(path + odd); r.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", odd, r.Status)
		}
	}
}

package views_test

import (
	"fmt"

	"github.com/countersign/countersign/views"
)

// fourQuestions are a citation's, with what the judge chose and the person.
func fourQuestions(n int, judged, given [4]string) []views.RulingPart {
	key := fmt.Sprintf("citation/%d/", n)
	parts := []views.RulingPart{
		{Key: key + "exists", Title: "Existence", Shortcut: "e", Choices: []views.RulingChoice{{"exists", "Exists", "✓", "the source is there"}, {"not_found", "Not found", "⌀", ""}, {"cannot_verify", "Cannot verify", "?", ""}}},
		{Key: key + "quote", Title: "Quotation", Shortcut: "q", Choices: []views.RulingChoice{{"exact", "Exact", "=", ""}, {"near", "Near", "≈", ""}, {"not_found", "Not found", "⌀", ""}, {"no_quote", "No quote", "–", ""}}},
		{Key: key + "fidelity", Title: "Fidelity", Shortcut: "f", Choices: []views.RulingChoice{{"accurate", "Faithful", "=", ""}, {"partial_mismatch", "Stretched", "≈", ""}, {"mismatch", "Misleading", "≠", ""}}},
		{Key: key + "support", Title: "Support", Shortcut: "s", Choices: []views.RulingChoice{{"fully_supported", "Full", "●", ""}, {"partially_supported", "Partial", "◐", ""}, {"unsupported", "None", "○", ""}}},
	}
	for i := range parts {
		parts[i].Judged, parts[i].Value = judged[i], given[i]
	}
	return parts
}

// sampleCitations is a bench with each kind of match, on a page that may be
// sealed: the page keeps the judge's choices back by itself.
func sampleCitations() *views.CitationsBench {
	unit := func(n int, progress string, judged, given [4]string) views.RulingUnit {
		return views.RulingUnit{Key: fmt.Sprintf("citation/%d", n), Anchor: fmt.Sprintf("c%d", n), Title: fmt.Sprintf("Citation %d", n), Progress: progress, Done: given[3] != "", Parts: fourQuestions(n, judged, given)}
	}
	b := &views.CitationsBench{
		Trace: sampleTrace(),
		Units: []views.CitationUnit{
			{RulingUnit: unit(1, "Agreed", [4]string{"exists", "exact", "accurate", "fully_supported"}, [4]string{"exists", "exact", "accurate", "fully_supported"}),
				N: 1, Marker: "1", Step: 1, Source: "Northgate Formulary, Atrial fibrillation 1.3", Match: views.MatchExact,
				MatchHead: "Exact match.", MatchLine: views.Text("All 12 quoted words stand in the source, word for word."), WholeHref: "#q1", Open: true,
				Passage: []views.Segment{{Text: "Assess stroke risk in everyone. ", Kind: views.Far}, {Text: "Offer anticoagulation to people with a score of 2 or more", Kind: views.Marked}, {Text: ", taking bleeding risk into account."}}},
			{RulingUnit: unit(2, "1 changed", [4]string{"exists", "near", "accurate", "fully_supported"}, [4]string{"", "", "mismatch", ""}),
				N: 2, Marker: "2", Step: 2, Source: "Northgate Formulary, Apixaban 2.2", Match: views.MatchNear, Altered: "The quotation changes the number “133”.",
				MatchHead: "Near match.", MatchLine: []views.Segment{{Text: "18 of 19 quoted words stand in the source, in this order. "}, {Text: "22 source words", Kind: views.Boxed}, {Text: " inside the quotation were left out without an ellipsis."}},
				Quoted:    []views.Segment{{Text: "in patients with serum creatinine of "}, {Text: "133", Kind: views.Added}, {Text: " micromol/L or more"}},
				Passage:   []views.Segment{{Text: "In patients with", Kind: views.Near}, {Text: " "}, {Text: "at least two of the following: age 80 years or more, body weight 60 kg or less, or", Kind: views.Omitted}, {Text: " "}, {Text: "serum creatinine of", Kind: views.Near}, {Text: " "}, {Text: "134", Kind: views.Replaced}, {Text: " the recommended dose is 2.5 mg."}},
				WholeHref: "/reviews/rv-4821/sources/2#q2", WholeOpens: true},
			{RulingUnit: unit(3, "To check", [4]string{"not_found", "not_found", "mismatch", "unsupported"}, [4]string{}),
				N: 3, Marker: "5", Step: 3, Source: "5", Match: views.MatchNoSource, MatchHead: "No such source.", MatchLine: views.Text("No source of this trace has the id 5. It brings 2 sources.")},
			{RulingUnit: unit(4, "To check", [4]string{"exists", "no_quote", "accurate", "partially_supported"}, [4]string{}),
				N: 4, Marker: "2", Step: 3, Source: "Northgate Formulary, Apixaban 2.2", Match: views.MatchNoQuote, MatchHead: "No quotation.", MatchLine: views.Text("The claim quotes nothing, so there is nothing to compare."),
				PassageNote: "The passage of the source that is nearest to the claim.", Passage: views.Text("Reassess renal function at least once a year.")},
		},
		Sources: []views.WholeSource{
			{Anchor: "source-1", Title: "Northgate Formulary, Atrial fibrillation 1.3", ID: "1", Text: []views.Segment{{Text: "Assess stroke risk in everyone. "}, {Text: "1", Kind: views.Back, Ref: "1"}, {Text: "Offer anticoagulation to people with a score of 2 or more", Kind: views.Marked}}},
			{Anchor: "source-2", Title: "Northgate Formulary, Apixaban 2.2", ID: "2", Address: "https://northgate.example/apixaban#2.2", Href: "/reviews/rv-4821/sources/2"},
		},
	}
	b.Units[2].Parts[3].JudgeNote = "No source of this id was given."
	return b
}

// sampleSteps is a bench with each kind of row.
func sampleSteps() *views.StepsBench {
	choices := []views.RulingChoice{{"equivalent", "Equivalent", "=", ""}, {"partial", "Partial", "≈", ""}, {"contradicts", "Contradicts", "≠", ""}, {"missing", "Missing, material", "⌀", ""}, {"not_needed", "Missing, not needed", "–", ""}}
	pair := func(n int, judged, given, progress string) views.RulingUnit {
		key := fmt.Sprintf("pair/%d", n)
		return views.RulingUnit{Key: key, Anchor: fmt.Sprintf("p%d", n), Title: fmt.Sprintf("Reference step %d", n), Progress: progress, Done: given != "", Parts: []views.RulingPart{{Key: key, Title: "Judgment", Choices: choices, Judged: judged, Value: given}}}
	}
	first := func(n int) views.RulingChoice {
		return views.RulingChoice{Value: fmt.Sprint(n), Text: fmt.Sprintf("Step %d", n)}
	}
	slab := func(n int, text string) views.Slab {
		return views.Slab{Anchor: fmt.Sprintf("s%d", n), Label: fmt.Sprintf("Candidate %d", n), Text: text, First: first(n)}
	}
	return &views.StepsBench{
		Question: "A patient with septic shock has pH 7.28, PaCO₂ 26 mmHg, bicarbonate 12. Interpret the acid–base state.", Candidate: 4, Reference: 3, Choices: choices,
		Rows: []views.StepRow{
			{RulingUnit: pair(1, "equivalent", "equivalent", "Agreed"), JudgeWord: "EQUIVALENT", Candidate: []views.Slab{slab(1, "A pH of 7.28 with a bicarbonate of 12 mmol/L is a metabolic acidosis.")}, Reference: views.Slab{Label: "Reference 1", Text: "The primary disorder is a metabolic acidosis."}},
			{RulingUnit: pair(2, "missing", "", "To check"), JudgeWord: "MISSING", Gap: "No step does this.", Reference: views.Slab{Label: "Reference 2", Text: "Albumin is 18 g/L, so correct the gap: 23.5 mmol/L."}},
			{RulingUnit: pair(3, "contradicts", "partial", "1 changed"), JudgeWord: "INCORRECT", Critical: true, Candidate: []views.Slab{slab(2, "The delta ratio is (18 − 12) ÷ (24 − 12) = 0.5."), slab(3, "A ratio of 0.5 means a mixed picture.")}, Reference: views.Slab{Label: "Reference 3", Text: "Delta ratio: 0.96, a single high-anion-gap acidosis."}},
			{RulingUnit: views.RulingUnit{Key: "extra/4", Anchor: "x4", Title: "Step 4, not in the reference", Progress: "To check", Parts: []views.RulingPart{{Key: "extra/4", Title: "Judgment", Choices: []views.RulingChoice{{"valid", "Holds", "=", ""}, {"irrelevant", "Irrelevant", "–", ""}, {"erroneous", "Wrong", "≠", ""}}, Judged: "erroneous", JudgeNote: "Bicarbonate is not indicated."}}},
				JudgeWord: "EXTRA_ERRONEOUS", Candidate: []views.Slab{slab(4, "Give 100 mmol of sodium bicarbonate.")}, ReferenceGap: "No step of the reference stands beside it."},
		},
		Answer: &views.AnswerRow{RulingUnit: views.RulingUnit{Key: "answer", Anchor: "u5", Title: "Final answers", Progress: "To check", Parts: []views.RulingPart{{Key: "answer", Title: "Final answer", Choices: []views.RulingChoice{{"yes", "Same answer", "=", ""}, {"no", "Other answer", "≠", ""}}, Judged: "no"}}},
			Candidate: "Mixed acidosis", Line: "Both are numbers, and they differ."},
		First: views.RulingUnit{Key: "first_wrong", Anchor: "u6", Title: "First wrong step", Progress: "Optional", Parts: []views.RulingPart{{Key: "first_wrong", Title: "First wrong step", Shortcut: "w", Optional: true, Judged: "2", Choices: []views.RulingChoice{{Value: "none", Text: "None"}, first(1), first(2), first(3), first(4)}}}},
		Rest:  []views.RulingChoice{{Value: "none", Text: "None"}},
	}
}

func stepsDesk(state views.DeskState) views.DeskPage {
	p := desk(state)
	p.Judge, p.Bench = "steps", sampleSteps()
	return p
}

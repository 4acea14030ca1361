package web

import "github.com/countersign/countersign/views"

// genericBench is the desk of a project's own judge: its labels and findings.
func genericBench(d deskItem) views.Bench {
	var b views.GenericBench
	for i := range d.sheet.Units {
		u := &d.sheet.Units[i]
		drawn := d.unit(i)
		if u.Finding == nil {
			b.Label = &drawn
			continue
		}
		b.Findings = append(b.Findings, views.FindingUnit{
			RulingUnit: drawn, Severity: u.Finding.Severity, Class: u.Finding.Class, Step: u.Finding.Step,
			Quote: u.Finding.Quote, Explanation: u.Finding.Explanation,
		})
	}
	return &b
}

package release

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Text writes the report for a terminal: the rules, the rates, then the outcome.
func (r Report) Text(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "RULE\tOUTCOME\tFIGURES")
	for _, rule := range r.Rules {
		fmt.Fprintf(table, "%s\t%s\t%s\n", plain(rule.Title()), rule.Outcome.words(), plain(rule.Detail))
	}
	fmt.Fprintln(table)
	fmt.Fprintln(table, "JUDGE\tMODEL\tDECIDED\tPASS RATE\tJUDGE ONLY\tLABELS ONLY\tCORRECTED\tKAPPA\tLABELS\tTRUST")
	for _, j := range r.Judges {
		fmt.Fprintf(table, "%s\t%s\t%d of %d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", plain(j.Judge), plain(j.Model), j.Decided, j.Evaluations,
			known(j.PassRate, share), known(j.Correction.JudgeOnly, share), known(j.Correction.HumanOnly, share), known(j.Correction.Corrected, share),
			j.Trust.cell(), j.Trust.labels(), j.Trust.state())
	}
	if len(r.Judges) > 1 {
		fmt.Fprintf(table, "all\t\t%d of %d\t%s\n", r.Overall.Decided, r.Overall.Evaluations, known(r.Overall.PassRate, share))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if c := r.Baseline; c != nil {
		fmt.Fprintf(w, "\n%s decided both now and in %s\n", traces(c.Paired), plain(c.Name))
	}
	if len(r.Notes) > 0 {
		fmt.Fprintln(w)
	}
	for _, n := range r.Notes {
		fmt.Fprintf(w, "note: %s\n", plain(n))
	}
	_, err := fmt.Fprintf(w, "\n%s\n", plain(r.Sentence))
	return err
}

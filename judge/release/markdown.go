package release

import (
	"fmt"
	"io"
	"strings"

	"github.com/countersign/countersign/judge/agreement"
)

// fewExamples is how many traces are named where people read in passing.
const fewExamples = 20

// Markdown writes the report as a page for people: the outcome first, then the rules,
// the rates of each judge, the baseline, and the first traces to look at. What comes
// from traces and judges is text in it.
func (r Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## Gate: %s\n\n%s\n\n", r.Outcome.words(), escaped(r.Sentence))
	fmt.Fprintf(&b, "%s, %s: %d decided, %d waiting, %d refused. Exit code %d.\n\n", traces(r.Traces),
		count(r.Overall.Evaluations, "evaluation", "evaluations"), r.Overall.Decided, r.Overall.Waiting, r.Overall.Refused, r.ExitCode)
	b.WriteString("| rule | outcome | figures |\n|---|---|---|\n")
	for _, rule := range r.Rules {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", escaped(rule.Title()), rule.Outcome.words(), escaped(rule.Detail))
	}
	fmt.Fprintf(&b, "\n### Pass rates, with %g%% intervals\n\n", 100*r.ConfLevel)
	b.WriteString("| judge | model | decided | pass rate | judge only | labels only | corrected | kappa | labels | trust |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, j := range r.Judges {
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %s | %s | %s | %s | %s | %s | %s |\n", escaped(j.Judge), escaped(j.Model), j.Decided, j.Evaluations,
			known(j.PassRate, share), known(j.Correction.JudgeOnly, share), known(j.Correction.HumanOnly, share), known(j.Correction.Corrected, share),
			j.Trust.cell(), j.Trust.labels(), j.Trust.state())
	}
	if len(r.Judges) > 1 {
		fmt.Fprintf(&b, "| all | | %d of %d | %s | | | | | | |\n", r.Overall.Decided, r.Overall.Evaluations, known(r.Overall.PassRate, share))
	}
	if c := r.Baseline; c != nil {
		fmt.Fprintf(&b, "\n### Against %s\n\n%s decided in both.\n\n", code(c.Name), traces(c.Paired))
		b.WriteString("| judge | traces in both | passed only before | passed only now | difference in points | p |\n|---|---|---|---|---|---|\n")
		for _, p := range c.Judges {
			tested := "–"
			if p.P != nil {
				tested = fmt.Sprintf("%.3g", *p.P)
			}
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %s | %s |\n", escaped(p.Judge), p.Paired, p.OnlyBefore, p.OnlyNow, known(p.Difference, points), tested)
		}
	}
	listExamples(&b, fmt.Sprintf("%s that do not pass", count(r.FailingTotal, "evaluation", "evaluations")), r.Failing, r.FailingTotal)
	listExamples(&b, fmt.Sprintf("%s that wait for people", count(r.Overall.Waiting, "evaluation", "evaluations")), r.Waiting, r.Overall.Waiting)
	if len(r.Notes) > 0 {
		b.WriteString("\n### To know\n\n")
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "- %s\n", escaped(n))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func listExamples(b *strings.Builder, title string, all []Example, total int) {
	if total == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", title)
	shown := all[:min(len(all), fewExamples)]
	for _, x := range shown {
		fmt.Fprintf(b, "- %s, %s\n", code(x.TraceID), escaped(x.more()))
	}
	if total > len(shown) {
		fmt.Fprintf(b, "- and %d more\n", total-len(shown))
	}
}

// words of an outcome.
func (o Outcome) words() string {
	return map[Outcome]string{
		Passed: "passed", Failed: "failed", BadInput: "bad input", Untrusted: "judge not trusted", Pending: "waits for people",
	}[o]
}

// known writes a figure, or a dash where there is none.
func known(e agreement.Estimate, write func(agreement.Estimate) string) string {
	if !e.Defined() {
		return "–"
	}
	return write(e)
}

// cell is kappa where there are labels enough for it.
func (t Trust) cell() string {
	switch {
	case t.N == 0:
		return "–"
	case !t.Enough:
		return "not enough labels"
	}
	return known(t.CohenKappa.Estimate, figure)
}

// state is what the project keeps, or a dash without one.
func (t Trust) state() string {
	if t.State == "" {
		return "–"
	}
	return string(t.State)
}

func (t Trust) labels() string {
	if t.N == 0 {
		return "0"
	}
	return fmt.Sprintf("%d, of the %s", t.N, t.Source)
}

// code is a text as code, on one line.
func code(text string) string {
	text = strings.ReplaceAll(plain(text), "|", "¦") // would end a cell
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

var markdownMarks = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "|", `\|`, "~", `\~`, "!", `\!`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;",
)

// escaped is a text that Markdown shows as it is: no markup, no link, no mention.
func escaped(text string) string {
	return strings.ReplaceAll(markdownMarks.Replace(plain(text)), "://", ":&#47;&#47;")
}

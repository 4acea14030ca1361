package views

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// score2 writes a score in [0,1] with two decimals.
func score2(f *float64) string {
	if f == nil {
		return ""
	}
	return decimal(*f)
}

// percent writes a share of n as a whole percentage; empty when n is 0.
func percent(part, n int) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(100*float64(part)/float64(n), 'f', 0, 64) + "%"
}

// number groups thousands by commas.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// count writes "1 trace", "2 traces".
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

// span writes a duration in at most two units: 40 s, 12 min, 1 h 20 min, 3 days.
func span(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 24*time.Hour:
		h, m := int(d.Hours()), int(d.Minutes())%60
		if m == 0 {
			return fmt.Sprintf("%d h", h)
		}
		return fmt.Sprintf("%d h %d min", h, m)
	case d < 48*time.Hour:
		return "1 day"
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// seconds writes a stretch of work: 14 min 53 s.
func seconds(n int) string {
	if n < 60 {
		return fmt.Sprintf("%d s", n)
	}
	return fmt.Sprintf("%d min %d s", n/60, n%60)
}

// leaseClock writes seconds as m:ss.
func leaseClock(n int) string { return fmt.Sprintf("%d:%02d", max(0, n)/60, max(0, n)%60) }

// leaseDash is the stroke-dasharray of the claim ring (radius 6): what is left
// of the lease, then the rest of the circumference.
func leaseDash(left, total int) string {
	const round = 37.7
	share := 0.0
	if total > 0 {
		share = min(1, max(0, float64(left)/float64(total)))
	}
	return fmt.Sprintf("%.1f %.1f", share*round, round)
}

func moment(t time.Time) string  { return t.UTC().Format("2 January 2006, 15:04:05") + " UTC" }
func day(t time.Time) string     { return t.UTC().Format("2006-01-02") }
func clock(t time.Time) string   { return t.UTC().Format("15:04:05") }
func machine(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// shortTime is the clock on the day of now, else the day and the clock.
func shortTime(now, t time.Time) string {
	if day(now) == day(t) {
		return t.UTC().Format("15:04")
	}
	return t.UTC().Format("2 Jan 15:04")
}

// shortHash shows both ends of a long hash; short ones stay whole.
func shortHash(h string) string {
	if len(h) <= 16 {
		return h
	}
	return h[:6] + "…" + h[len(h)-4:]
}

// words turns a code into words: partially_supported, partially supported.
func words(code string) string { return strings.ReplaceAll(code, "_", " ") }

// labelWord is a label as people read it; a class that is a bare number says that it
// is a label, and no score.
func labelWord(label string) string {
	if _, err := strconv.ParseFloat(label, 64); err == nil {
		return "label " + label
	}
	return words(label)
}

// reasonDetail is a judge's or check's line with its codes as words; what it quotes
// and the paths of a report stay as they are.
func reasonDetail(detail string) string {
	parts := strings.Split(detail, `"`)
	for i := 0; i < len(parts); i += 2 { // every other one is quoted
		parts[i] = codeWord.ReplaceAllStringFunc(parts[i], words)
	}
	return strings.Join(parts, `"`)
}

// codeWord is a word of a code, such as formal_fallacy_detection, and no part of a path.
var codeWord = regexp.MustCompile(`(^|[\s(,;])[a-z]+(_[a-z]+)+`)

// sentence is words with a capital.
func sentence(code string) string {
	w := words(code)
	if w == "" || w[0] < 'a' || w[0] > 'z' {
		return w
	}
	return string(w[0]-'a'+'A') + w[1:]
}

// verdictWord is a verdict as people read it.
func verdictWord(v judge.Verdict) string {
	switch v {
	case judge.Pass:
		return "Pass"
	case judge.Borderline:
		return "Borderline"
	case judge.Fail:
		return "Fail"
	}
	return "No verdict"
}

// verdictClass is the class of the stylesheet, and with i- its icon.
func verdictClass(v judge.Verdict) string {
	switch v {
	case judge.Pass:
		return "pass"
	case judge.Borderline:
		return "part"
	case judge.Fail:
		return "fail"
	}
	return "none"
}

// reasonWord is a reason code as people read it.
func reasonWord(code string) string {
	switch code {
	case judge.ReasonJudgeFailed:
		return "Judge failed"
	case judge.ReasonInvalidOutput:
		return "Invalid report"
	case judge.ReasonUntrustedJudge:
		return "Judge not trusted yet"
	case judge.ReasonRequested:
		return "Sent by a person"
	case judge.ReasonInconsistentOutput:
		return "Inconsistent report"
	}
	return sentence(code)
}

// reasonIcon is the name of a reason's icon.
func reasonIcon(code string) string {
	switch code {
	case judge.ReasonCriticalError, judge.ReasonJudgeFailed, judge.ReasonInvalidOutput:
		return "i-crit"
	case judge.ReasonAmbiguousScore, judge.ReasonBelowThreshold:
		return "i-ambig"
	case judge.ReasonInconsistentOutput, judge.ReasonJudgeDisagreement, judge.ReasonIncompleteReport:
		return "i-incons"
	case judge.ReasonRandomAudit, judge.ReasonBoundaryAudit:
		return "i-audit"
	case judge.ReasonMisattribution, judge.ReasonUncitedClaims, judge.ReasonSubstantiveDifference:
		return "i-none"
	}
	return "i-info"
}

// statusWord is a status as people read it.
func statusWord(s judge.Status) string { return sentence(string(s)) }

// actionWord says in the past tense what a person did.
func actionWord(action string) string {
	switch action {
	case "confirm", "adopt", "keep":
		return "Confirmed"
	case "override":
		return "Overrode the judge"
	case "cannot_judge":
		return "Cannot judge"
	case "escalate":
		return "Escalated"
	}
	return sentence(action)
}

// sourceWord says whose a result is.
func sourceWord(source string) string {
	switch source {
	case judge.ByJudge:
		return "by the judge"
	case judge.ByHuman:
		return "by a person"
	case judge.ByAdjudication:
		return "by adjudication"
	}
	return words(source)
}

// told are the reasons that a reader may know: all of them, or only those that
// do not tell the judge's answer.
func told(reasons []judge.Reason, sealed bool) []judge.Reason {
	if !sealed {
		return reasons
	}
	var open []judge.Reason
	for _, r := range reasons {
		if !judge.Telling(r.Code) {
			open = append(open, judge.Reason{Code: r.Code}) // a detail may tell what its code does not
		}
	}
	return open
}

// linkTo is the address of a thing whose id may hold any character.
func linkTo(prefix, id string) string { return prefix + url.PathEscape(id) }

// unmarked is a trace without the passages that the judge's findings point at,
// for a reader who may not know them.
func unmarked(t TraceText, sealed bool) TraceText {
	if !sealed {
		return t
	}
	plain := func(list []Segment) []Segment {
		out := slices.Clone(list)
		for i := range out {
			if out[i].Kind == Violation {
				out[i].Kind, out[i].Ref = Plain, ""
			}
		}
		return slices.DeleteFunc(out, func(s Segment) bool { return s.Kind == Flag })
	}
	steps := slices.Clone(t.Steps)
	for i := range steps {
		steps[i].Segments = plain(steps[i].Segments)
		steps[i].Blocks = slices.Clone(steps[i].Blocks)
		for j := range steps[i].Blocks {
			b := &steps[i].Blocks[j]
			b.Segments, b.Rows = plain(b.Segments), slices.Clone(b.Rows)
			for k := range b.Rows {
				b.Rows[k].Cells = slices.Clone(b.Rows[k].Cells)
				for l := range b.Rows[k].Cells {
					b.Rows[k].Cells[l] = plain(b.Rows[k].Cells[l])
				}
			}
		}
	}
	t.Steps, t.Answer = steps, plain(t.Answer)
	return t
}

package tracefile

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// judgments reads the recorded reports of a trace.
func (r *Reader) judgments(f *fields, path string, b []byte) []judge.Judgment {
	var all []judge.Judgment
	f.objects(path, b, func(path string, members []member) {
		var j judge.Judgment
		for _, m := range members {
			p, v := path+"."+m.name, m.value
			switch m.name {
			case "judge":
				j.Judge = f.text(p, v)
			case "model":
				j.Model = f.text(p, v)
			case "prompt_version":
				j.PromptVersion = f.text(p, v)
			case "at":
				j.At = f.time(p, v)
			case "output":
				if v[0] != '{' {
					f.mistyped(p, "an object (text belongs in raw)", v)
				}
				j.Output = raw(v)
			case "raw":
				j.Raw = f.text(p, v)
			default:
				r.ignored("judgments", m.name)
			}
		}
		if strings.TrimSpace(j.Judge) == "" {
			f.fault(path+".judge", "is missing; say whose report it is")
		} else {
			r.known(f, path+".judge", j.Judge)
		}
		switch {
		case j.Output != nil && j.Raw != "":
			f.fault(path, "has both output and raw; keep one")
		case j.Output == nil && j.Raw == "":
			f.fault(path, "has neither output (an object) nor raw (text)")
		}
		all = append(all, j)
	})
	return all
}

// labels reads what people have said about a trace already.
func (r *Reader) labels(f *fields, path string, b []byte) []judge.HumanLabel {
	var all []judge.HumanLabel
	f.objects(path, b, func(path string, members []member) {
		l := r.label(f, path, members)
		switch {
		case f.err != nil:
		case strings.TrimSpace(l.Judge) == "":
			f.fault(path+".judge", "is missing; say which judge's question it answers")
		case l.Label == "" && l.Verdict == "":
			f.fault(path, "has neither label nor verdict")
		default:
			r.checkLabel(f, path, l)
		}
		all = append(all, l)
	})
	return all
}

func (r *Reader) label(f *fields, path string, members []member) judge.HumanLabel {
	var l judge.HumanLabel
	for _, m := range members {
		p, v := path+"."+m.name, m.value
		switch m.name {
		case "judge":
			l.Judge = f.text(p, v)
		case "label": // the classes of a scale are often written as numbers
			l.Label = f.name(p, v)
		case "verdict":
			l.Verdict = verdict(f, p, v)
		case "reviewer":
			l.Reviewer = f.name(p, v)
		case "findings":
			l.Findings = r.findings(f, p, v)
		case "comment":
			l.Comment = f.text(p, v)
		case "at":
			l.At = f.time(p, v)
		case "blind":
			blind := f.boolean(p, v)
			l.Blind = &blind
		case "adjudicated":
			l.Adjudicated = f.boolean(p, v)
		case "stratum":
			l.Stratum = f.text(p, v)
		case "inclusion_probability":
			l.InclusionProbability = f.probability(p, v)
		default:
			r.ignored("labels", m.name)
		}
	}
	return l
}

func verdict(f *fields, path string, b []byte) judge.Verdict {
	s := f.text(path, b)
	if f.err != nil {
		return ""
	}
	v, err := judge.ParseVerdict(s)
	if err != nil {
		f.fault(path, "must be pass, borderline or fail but is %s", short(b))
	}
	return v
}

// checkLabel holds a label against the scale of its judge, where that is known.
func (r *Reader) checkLabel(f *fields, path string, l judge.HumanLabel) {
	j, ok := r.known(f, path+".judge", l.Judge)
	if !ok || l.Label == "" {
		return
	}
	own, ok := j.LabelNamed(l.Label)
	switch {
	case !ok:
		var names []string
		for _, l := range j.Labels {
			names = append(names, l.Name)
		}
		f.fault(path+".label", "%q is not a label of judge %s; its labels are %s", l.Label, j.Name, strings.Join(names, ", "))
	case l.Verdict != "" && l.Verdict != own.Verdict:
		f.fault(path+".verdict", "is %s, but the label %s of judge %s means %s; keep one", l.Verdict, l.Label, j.Name, own.Verdict)
	}
}

func (r *Reader) findings(f *fields, path string, b []byte) []judge.Finding {
	var all []judge.Finding
	f.objects(path, b, func(path string, members []member) {
		var x judge.Finding
		for _, m := range members {
			p, v := path+"."+m.name, m.value
			switch m.name {
			case "step":
				x.Step = f.count(p, v)
			case "citation":
				x.Citation = f.count(p, v)
			case "citation_id":
				x.CitationID = f.name(p, v)
			case "dimension":
				x.Dimension = f.text(p, v)
			case "class":
				x.Class = f.text(p, v)
			case "severity":
				x.Severity = f.text(p, v)
			case "quote":
				x.Quote = f.text(p, v)
			case "explanation":
				x.Explanation = f.text(p, v)
			default:
				r.ignored("labels.findings", m.name)
			}
		}
		if !slices.Contains([]string{"", "critical", "major", "minor"}, x.Severity) {
			f.fault(path+".severity", "must be critical, major or minor but is %q", x.Severity)
		}
		all = append(all, x)
	})
	return all
}

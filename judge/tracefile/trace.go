package tracefile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign/countersign/judge"
)

// read makes a trace of the members of one object and holds it to the rules of
// the format.
func (r *Reader) read(members []member) (judge.Trace, error) {
	var t judge.Trace
	var f fields
	var came given
	var unknown []member
	for _, m := range members {
		if m.value[0] == 'n' { // null counts as absent
			continue
		}
		if !r.field(&f, &t, canonical(m.name), m) {
			unknown = append(unknown, m)
			continue
		}
		if err := came.add(m.name); err != nil {
			return t, err
		}
	}
	if f.err == nil {
		r.checkWhole(&f, &t)
	}
	if f.err != nil {
		return t, f.err
	}
	if t.Stakes == "" {
		t.Stakes = r.stakesOf(t.Domain)
	}
	for _, m := range unknown {
		r.keepUnknown(&t, m)
	}
	if err := r.checkRepeated(&t); err != nil {
		return t, err
	}
	return t, nil
}

// field reads one member into the trace. It reports false when a trace has no
// field of this name. Paths use the name that the file uses.
func (r *Reader) field(f *fields, t *judge.Trace, field string, m member) bool {
	path, b := m.name, m.value
	switch field {
	case "id":
		t.ID = f.name(path, b)
	case "domain":
		// The default stakes hang on the domain: Legal must not be standard.
		t.Domain = strings.ToLower(strings.TrimSpace(f.text(path, b)))
	case "stakes":
		t.Stakes = r.stakes(f, path, b)
	case "question":
		t.Question = f.text(path, b)
	case "output":
		t.Output = f.text(path, b)
	case "reference":
		t.Reference = f.text(path, b)
	case "premises":
		t.Premises = f.texts(path, b)
	case "conclusion":
		t.Conclusion = f.text(path, b)
	case "sources":
		t.Sources = r.sources(f, path, b)
	case "constraints":
		t.Constraints = f.texts(path, b)
	case "judges":
		t.Judges = f.names(path, b)
	case "run":
		t.Run = f.text(path, b)
	case "tags":
		t.Tags = f.names(path, b)
	case "metadata":
		t.Metadata = f.metadata(path, b)
	case "cluster":
		t.Cluster = f.name(path, b)
	case "judgments":
		t.Judgments = r.judgments(f, path, b)
	case "labels":
		t.Labels = r.labels(f, path, b)
	default:
		return false
	}
	return true
}

// MaxID is the longest id of a trace and name of a run, in characters: both are
// part of addresses.
const MaxID = 512

// checkWhole holds the rules that need more than one field.
func (r *Reader) checkWhole(f *fields, t *judge.Trace) {
	switch {
	case strings.TrimSpace(t.ID) == "":
		f.fault("id", "is missing; every trace needs an id of its own")
	case strings.TrimSpace(t.Output) == "":
		f.fault("output", "is missing or blank; there is nothing to judge")
	case utf8.RuneCountInString(t.ID) > MaxID:
		f.fault("id", "is %d characters long; at most %d fit an address", utf8.RuneCountInString(t.ID), MaxID)
	case utf8.RuneCountInString(t.Run) > MaxID:
		f.fault("run", "is %d characters long; at most %d fit an address", utf8.RuneCountInString(t.Run), MaxID)
	}
	settled := map[string]judge.HumanLabel{}
	for i, l := range t.Labels {
		if !l.Adjudicated {
			continue
		}
		if before, ok := settled[l.Judge]; ok && (before.Label != l.Label || before.Verdict != l.Verdict) {
			f.fault(at("labels", i), "is adjudicated and differs from the adjudicated label before it; one evaluation has one result")
		}
		settled[l.Judge] = l
	}
	for i, name := range t.Judges {
		r.known(f, at("judges", i), name)
	}
}

func (r *Reader) stakes(f *fields, path string, b []byte) judge.Stakes {
	s := judge.Stakes(f.text(path, b))
	if f.err == nil && s != judge.HighStakes && s != judge.StandardStakes {
		f.fault(path, "must be high or standard but is %s", short(b))
	}
	return s
}

func (r *Reader) sources(f *fields, path string, b []byte) []judge.Source {
	var all []judge.Source
	ids := map[string]string{} // path of the source that has it
	f.objects(path, b, func(path string, members []member) {
		var s judge.Source
		for _, m := range members {
			p := path + "." + m.name
			switch m.name {
			case "id":
				s.ID = f.name(p, m.value)
			case "text":
				s.Text = f.text(p, m.value)
			case "title":
				s.Title = f.text(p, m.value)
			case "url":
				s.URL = f.text(p, m.value)
			default:
				r.ignored("sources", m.name)
			}
		}
		if strings.TrimSpace(s.ID) == "" {
			f.fault(path+".id", "is missing; citations name a source by its id")
		}
		if strings.TrimSpace(s.Text) == "" {
			f.fault(path+".text", "is missing or blank")
		}
		if first, ok := ids[s.ID]; ok {
			f.fault(path+".id", "%q is already the id of %s; each source needs its own", s.ID, first)
		}
		ids[s.ID] = path
		all = append(all, s)
	})
	return all
}

// known finds a judge when judges are checked. It reports true only for a judge
// that was found.
func (r *Reader) known(f *fields, path, name string) (*judge.Judge, bool) {
	if r.judge == nil {
		return nil, false
	}
	j, ok := r.judge(name)
	if !ok {
		f.fault(path, "no judge is called %q; correct the name, or add its definition with --judges", name)
	}
	return j, ok
}

// keepUnknown puts a field that a trace does not have into its metadata, under
// a name that is free there.
func (r *Reader) keepUnknown(t *judge.Trace, m member) {
	key := m.name
	for n := 2; ; n++ {
		if _, taken := t.Metadata[key]; !taken {
			break
		}
		key = fmt.Sprintf("%s_%d", m.name, n)
	}
	if t.Metadata == nil {
		t.Metadata = map[string]any{}
	}
	t.Metadata[key] = free(m.value)
	if key == m.name {
		r.warn(m.name, "is not a field of a trace; kept in its metadata")
		return
	}
	r.warn(m.name, fmt.Sprintf("is not a field of a trace; kept in its metadata as %s, since the name is taken", shown(key)))
}

func (r *Reader) ignored(field, name string) {
	r.warn(field+"."+name, "is not known here and is left out")
}

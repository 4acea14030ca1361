package ruling

import "github.com/countersign/countersign/judge"

// Changed are the keys of the rulings that differ from the judge's, in the order
// of the sheet; what a person adds comes last. Nil without a report: there is
// nothing to differ from. A part of which the judge said nothing counts where its
// silence says something (a difference that it does not list is wording to it) or
// the ruling is itself a finding (a violation of the person's own).
func (s Sheet) Changed(rulings []judge.Ruling) []string {
	if !s.Judged {
		return nil
	}
	said := values(rulings)
	var changed []string
	for _, u := range s.Units {
		for _, p := range u.Parts {
			if v, ruled := said[p.Key]; ruled && p.differs(v) {
				changed = append(changed, p.Key)
			}
		}
	}
	for _, r := range rulings {
		_, shown := s.at[r.Part]
		if p, ok := s.Part(r.Part); ok && !shown && (p.Many || p.differs(r.Value)) {
			changed = append(changed, r.Part)
		}
	}
	return changed
}

// differs tells a choice that is not the judge's, said or silent.
func (p Part) differs(value string) bool {
	if p.Judged != "" {
		return value != p.Judged
	}
	return p.silent != "" && value != p.silent
}

// Progress counts the units that need a ruling, and those of them of which every
// part that is not optional has one.
func (s Sheet) Progress(rulings []judge.Ruling) (done, of int) {
	said := values(rulings)
	for _, u := range s.Units {
		needed, ruled := 0, 0
		for _, p := range u.Parts {
			if p.Optional {
				continue
			}
			needed++
			if _, ok := said[p.Key]; ok {
				ruled++
			}
		}
		if needed == 0 {
			continue
		}
		of++
		if ruled == needed {
			done++
		}
	}
	return done, of
}

func values(rulings []judge.Ruling) map[string]string {
	said := make(map[string]string, len(rulings))
	for _, r := range rulings {
		said[r.Part] = r.Value
	}
	return said
}

// answers are a person's rulings with the judge's where the person gave none.
type answers struct {
	said  map[string]judge.Ruling
	sheet *Sheet
}

func (s *Sheet) answers(rulings []judge.Ruling) answers {
	a := answers{make(map[string]judge.Ruling, len(rulings)), s}
	for _, r := range rulings {
		a.said[r.Part] = r
	}
	return a
}

// of is what holds for a part: the person's choice, else the judge's, else
// nothing.
func (a answers) of(key string) string {
	if r, ok := a.said[key]; ok {
		return r.Value
	}
	if p, ok := a.sheet.at[key]; ok {
		return a.sheet.Units[p.unit].Parts[p.part].Judged
	}
	return ""
}

// changed tells whether the person chose otherwise than the judge, or chose
// where the judge left it open.
func (a answers) changed(key string) bool {
	r, ok := a.said[key]
	if !ok {
		return false
	}
	p, there := a.sheet.Part(key)
	return !there || p.Judged == "" && p.silent == "" || p.differs(r.Value)
}

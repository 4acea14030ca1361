package judge

import (
	"strings"
	"sync"
)

// FillTemplate puts values into a template in one pass: a value is never
// searched for placeholders. A line with a placeholder that has no value is left
// out, and so is a section [IF NAME] … [END NAME] whose name has none.
// A value stands on lines of its own. value is asked once for each name, and must
// always say the same of it.
func FillTemplate(template string, value func(name string) (text string, ok bool)) string {
	lines := templates.of(template)
	values := asked{value: value}
	out := make([]string, 0, 4*len(lines))
	var closed string // the section that is being left out
	for _, line := range lines {
		if line.section != "" {
			switch {
			case closed == "" && line.opens && !values.has(line.section):
				closed = line.section
			case closed == line.section && !line.opens:
				closed = ""
			}
			continue
		}
		if closed != "" || !line.filled(&values) {
			continue
		}
		if len(out) > 0 {
			out = append(out, "\n")
		}
		for i, text := range line.texts {
			out = append(out, text)
			if i < len(line.names) {
				text, _ := values.of(line.names[i])
				out = append(out, text)
			}
		}
	}
	return strings.Join(out, "")
}

// templateLine is one line of a template, cut at its placeholders: texts[0],
// the value of names[0], texts[1] and so on. A line that opens or closes a
// section is neither.
type templateLine struct {
	section string
	opens   bool
	texts   []string
	names   []string
}

func cutLine(line string) templateLine {
	if m := sectionPattern.FindStringSubmatch(line); m != nil {
		return templateLine{section: m[2], opens: m[1] == "IF"}
	}
	places := placeholderPattern.FindAllStringSubmatchIndex(line, -1)
	if places == nil {
		return templateLine{texts: []string{line}}
	}
	var l templateLine
	at, after := 0, ""
	for _, m := range places {
		before := strings.TrimRight(line[at:m[0]], " \t")
		if before != "" {
			before += "\n"
		}
		l.texts = append(l.texts, after+before)
		l.names = append(l.names, line[m[2]:m[3]])
		at, after = m[1], ""
		if strings.TrimSpace(line[at:]) != "" {
			after = "\n"
		}
	}
	l.texts = append(l.texts, after+strings.TrimSpace(line[at:]))
	return l
}

// filled reports whether every placeholder of the line has a value.
func (l *templateLine) filled(values *asked) bool {
	for _, name := range l.names {
		if !values.has(name) {
			return false
		}
	}
	return true
}

// asked keeps the values of one filling: a section and its placeholder ask for
// the same one, and a value may be a whole trace.
type asked struct {
	value func(string) (string, bool)
	known []namedValue // a template has a handful
}

type namedValue struct {
	name, text string
	ok         bool
}

func (a *asked) of(name string) (string, bool) {
	for _, v := range a.known {
		if v.name == name {
			return v.text, v.ok
		}
	}
	text, ok := a.value(name)
	a.known = append(a.known, namedValue{name, text, ok})
	return text, ok
}

func (a *asked) has(name string) bool {
	_, ok := a.of(name)
	return ok
}

// templates are remembered cut into their lines: every prompt of a judge is made
// of the same one.
var templates templateCache

// maxTemplates are remembered; an installation has a handful of judges.
const maxTemplates = 256

type templateCache struct {
	mu  sync.Mutex
	cut map[string][]templateLine
}

func (c *templateCache) of(template string) []templateLine {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lines, ok := c.cut[template]; ok {
		return lines
	}
	var lines []templateLine
	for line := range strings.SplitSeq(template, "\n") {
		lines = append(lines, cutLine(line))
	}
	if c.cut == nil || len(c.cut) >= maxTemplates {
		c.cut = map[string][]templateLine{}
	}
	c.cut[template] = lines
	return lines
}

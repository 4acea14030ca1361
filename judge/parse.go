package judge

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDefinition is the largest definition, prompt or schema file in bytes.
const maxDefinition = 1 << 20

// judgeName is what names of judges and checks look like.
var judgeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// DefinitionFiles says what a definition may refer to besides itself.
type DefinitionFiles struct {
	// Read gives the content of prompt_file or schema_file, by the name that is
	// written there. Nil: a definition must be complete in itself.
	Read func(name string) ([]byte, error)
	// Blocks are values of placeholders that stand for no trace field.
	Blocks map[string]string
	// Derived are placeholders whose values are computed from the trace.
	Derived []string
}

// ParseDefinition reads one judge from YAML that is complete in itself. The
// error joins every fault found, each a *DefinitionError with its line.
func ParseDefinition(file string, data []byte) (Judge, error) {
	return ParseDefinitionWith(file, data, DefinitionFiles{})
}

// ParseDefinitionWith is ParseDefinition for a definition with files beside it.
// The judge's Source is the definition with those files written into it.
func ParseDefinitionWith(file string, data []byte, files DefinitionFiles) (Judge, error) {
	if len(data) > maxDefinition {
		return Judge{}, &DefinitionError{File: file, Msg: fmt.Sprintf("the file has %d bytes; a definition has at most %d", len(data), maxDefinition)}
	}
	root, fault := parseYAML(file, data)
	if fault != nil {
		return Judge{}, fault
	}
	p := &parser{file: file, files: files, judge: Judge{Source: data, Blocks: files.Blocks, File: file}}
	p.definition(root)
	if len(p.faults) > 0 {
		slices.SortStableFunc(p.faults, func(a, b *DefinitionError) int {
			return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
		})
		errs := make([]error, len(p.faults))
		for i, f := range p.faults {
			errs[i] = f
		}
		return Judge{}, errors.Join(errs...)
	}
	j := p.judge
	j.PromptVersion = p.version()
	j.Read = p.reading()
	return j, nil
}

// parser collects a judge and the faults of its definition.
type parser struct {
	file   string
	files  DefinitionFiles
	faults []*DefinitionError
	// blamed are the nodes that a fault was found at.
	blamed map[*yaml.Node]bool

	judge  Judge
	schema located // as it was written, for lines
	report reportPlaces
	checks []generalCheck
	// settled is the report on identical texts; nil: none was given.
	settled json.RawMessage
	told    map[string]bool // the mappings whose known keys were named: once a file is enough
}

func (p *parser) fault(at located, format string, args ...any) {
	f := &DefinitionError{File: p.file, Msg: fmt.Sprintf(format, args...)}
	if at.Node != nil {
		f.File, f.Line = at.file, at.Line
		if p.blamed == nil {
			p.blamed = map[*yaml.Node]bool{}
		}
		p.blamed[at.Node] = true
	}
	p.faults = append(p.faults, f)
}

// keys of a mapping, each handled by its function; unknown and repeated ones
// are faults. It reports whether n is a mapping at all.
func (p *parser) keys(n located, what string, handle map[string]func(located)) bool {
	if n.Node == nil || n.Kind != yaml.MappingNode {
		p.fault(n, "%s must be a mapping of keys to values", what)
		return false
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := located{n.Content[i], n.file}
		switch do := handle[key.Value]; {
		case do == nil:
			known := ""
			if !p.told[what] {
				known = "; known are " + strings.Join(slices.Sorted(maps.Keys(handle)), ", ")
				if p.told == nil {
					p.told = map[string]bool{}
				}
				p.told[what] = true
			}
			p.fault(key, "unknown key %q in %s%s", key.Value, what, known)
		case seen[key.Value]:
			p.fault(key, "the key %q is given twice", key.Value)
		default:
			seen[key.Value] = true
			do(located{n.Content[i+1], n.file})
		}
	}
	return true
}

// isNoJudge says in one fault that a file is something else: one for each of its
// keys would help nobody.
func (p *parser) isNoJudge(root located) bool {
	if root.Kind == yaml.MappingNode {
		for _, key := range []string{"prompt", "prompt_file", "schema", "schema_file", "labels", "inputs", "report"} {
			if _, ok := root.get(key); ok && !isSchema(root) {
				return false
			}
		}
	}
	what := "this is no definition of a judge: it has no prompt, schema, inputs, report or labels"
	if isSchema(root) {
		what = "this is a JSON Schema and no definition of a judge: name it under schema_file of a definition, or write it there under schema"
	}
	p.fault(located{root.Node, p.file}, "%s", what)
	return true
}

// isSchema recognises a JSON Schema by what definitions never have.
func isSchema(root located) bool {
	if root.Kind != yaml.MappingNode {
		return false
	}
	if _, ok := root.get("$schema"); ok {
		return true
	}
	_, properties := root.get("properties")
	_, kind := root.get("type")
	return properties && kind
}

func (p *parser) definition(root located) {
	if p.isNoJudge(root) {
		return
	}
	var inputs, prompt, report, checks, identical located
	put := func(to *located) func(located) { return func(n located) { *to = n } }
	var promptFile, schemaFile located
	labels := true // they were read without a fault
	if !p.keys(root, "the definition", map[string]func(located){
		"name":        func(n located) { p.judge.Name, p.judge.Line = p.text(n, "name"), n.Line },
		"description": func(n located) { p.judge.Description = p.text(n, "description") },
		"inputs":      put(&inputs),
		"prompt":      put(&prompt),
		"prompt_file": put(&promptFile),
		"schema":      put(&p.schema),
		"schema_file": put(&schemaFile),
		"report":      put(&report),
		"labels":      func(n located) { labels = p.sound(func() { p.labels(n) }) },
		"ordinal":     func(n located) { p.decode(n, &p.judge.Ordinal, "ordinal must be true or false") },
		"max_repairs": p.maxRepairs,
		"thresholds":  p.thresholds,
		"checks":      put(&checks),
		"routing":     p.routing,
		"identical":   put(&identical),
	}) {
		return
	}
	if p.judge.Band == (Band{}) {
		p.judge.Band = DefaultBand
	}
	switch {
	case p.judge.Name == "":
		p.fault(located{root.Node, p.file}, "name is missing; it is what trace files and commands call the judge")
	case !judgeName.MatchString(p.judge.Name):
		n, _ := root.get("name")
		p.fault(n, "name %q must be 1 to 64 letters, digits, dots, - or _, the first a letter or digit", p.judge.Name)
	}
	p.inputs(inputs, root)
	p.besides(root, &prompt, promptFile, &p.schema, schemaFile)
	p.prompt(prompt, root)
	p.compileSchema(root)
	places := p.sound(func() { p.reportPlaces(report, root) })
	p.checkList(checks)
	p.identical(identical, labels, places)
}

// sound reports whether reading a part found no fault.
func (p *parser) sound(read func()) bool {
	before := len(p.faults)
	read()
	return len(p.faults) == before
}

// text is a scalar's text as it was written.
func (p *parser) text(n located, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		p.fault(n, "%s must be text", what)
		return ""
	}
	return n.Value
}

func (p *parser) decode(n located, to any, msg string) bool {
	if err := n.Decode(to); err != nil {
		p.fault(n, "%s", msg)
		return false
	}
	return true
}

func (p *parser) inputs(n, root located) {
	if n.Node == nil {
		p.fault(root, "inputs is missing; name the trace's fields that the judge reads, such as {output: required}")
		return
	}
	if n.Kind != yaml.MappingNode {
		p.fault(n, "inputs must be a mapping such as {output: required, question: optional}")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := located{n.Content[i], n.file}, located{n.Content[i+1], n.file}
		switch {
		case !slices.Contains(Fields(), key.Value):
			p.fault(key, "input %q is not a field of a trace; fields are %s", key.Value, strings.Join(Fields(), ", "))
		case slices.ContainsFunc(p.judge.Inputs, func(in Input) bool { return in.Field == key.Value }):
			p.fault(key, "the input %q is given twice", key.Value)
		case value.Value != "required" && value.Value != "optional":
			p.fault(value, "input %s must be required or optional", key.Value)
		default:
			p.judge.Inputs = append(p.judge.Inputs, Input{Field: key.Value, Required: value.Value == "required"})
		}
	}
}

func (p *parser) prompt(n, root located) {
	if n.Node == nil {
		if _, given := root.get("prompt_file"); !given {
			p.fault(root, "prompt is missing; write the judge's prompt with placeholders such as [CANDIDATE_OUTPUT]")
		}
		return
	}
	p.judge.Prompt = p.text(n, "prompt")
	if strings.TrimSpace(p.judge.Prompt) == "" {
		p.fault(n, "prompt is empty")
		return
	}
	offset := n.Line - 1
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		offset = n.Line
	}
	at := func(line int) located {
		return located{&yaml.Node{Line: offset + line}, n.file}
	}
	for _, place := range Placeholders(p.judge.Prompt) {
		if _, ok := p.judge.Blocks[place.Name]; ok || slices.Contains(p.files.Derived, place.Name) {
			continue
		}
		field, ok := PlaceholderField(place.Name)
		if !ok {
			p.fault(at(place.Line), "[%s] is no placeholder; known are %s", place.Name, strings.Join(PlaceholderNames(), ", "))
			continue
		}
		if !slices.ContainsFunc(p.judge.Inputs, func(in Input) bool { return in.Field == field }) {
			p.fault(at(place.Line), "the placeholder [%s] has no input; add %s to inputs", place.Name, field)
		}
	}
	p.sections(at)
}

// sections must be closed and do not nest.
func (p *parser) sections(at func(int) located) {
	open, opened := "", 0
	for i, line := range strings.Split(p.judge.Prompt, "\n") {
		m := sectionPattern.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] == "IF" && open != "":
			p.fault(at(i+1), "the section [IF %s] is opened inside [IF %s]; sections do not nest", m[2], open)
		case m[1] == "IF":
			open, opened = m[2], i+1
		case open != m[2]:
			p.fault(at(i+1), "[END %s] closes no section", m[2])
		default:
			open = ""
		}
	}
	if open != "" {
		p.fault(at(opened), "the section [IF %s] is not closed by [END %s]", open, open)
	}
}

func (p *parser) compileSchema(root located) {
	if p.schema.Node == nil {
		if _, given := root.get("schema_file"); !given {
			p.fault(root, "schema is missing; write the JSON Schema of the report")
		}
		return
	}
	if p.schema.Kind != yaml.MappingNode {
		p.fault(p.schema, "schema must be a JSON Schema of an object")
		return
	}
	text, fault := p.schema.appendJSON(nil)
	if fault != nil {
		p.faults = append(p.faults, fault)
		return
	}
	if kind, ok := p.schema.get("type"); !ok || kind.Value != "object" {
		p.fault(p.schema, "schema must have type: object; a report is one JSON object")
	}
	if _, err := CompileSchema(text); err != nil {
		p.fault(p.schema, "%s", strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	p.judge.Schema = text
	p.possible(p.schema)
}

// version is the hash of all that decides what the judge is asked and how its
// answer counts, the house's own texts included. Comments, the order of keys and
// the description do not.
func (p *parser) version() string {
	j := &p.judge
	parts := []any{
		j.Prompt, j.Schema, j.Labels, j.Blocks, j.Inputs, j.Ordinal, j.MaxRepairs, j.Band, j.Routing,
		p.report.canonical(), p.checks, houseVersion,
	}
	if p.settled != nil {
		parts = append(parts, p.settled)
	}
	content, err := json.Marshal(parts)
	if err != nil {
		panic("judge: a definition that was read cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(n), 64)
		return f, err == nil
	}
	return 0, false
}

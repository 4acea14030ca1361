package judge

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// besides reads prompt_file and schema_file and writes them into the source.
func (p *parser) besides(root located, prompt *located, promptFile located, schema *located, schemaFile located) {
	inlined := false
	read := func(n located, key string, to *located) (string, []byte, bool) {
		if to.Node != nil {
			p.fault(n, "%s and %s_file are both given; keep one", key, key)
			return "", nil, false
		}
		name := p.text(n, key+"_file")
		if name == "" {
			return "", nil, false
		}
		if p.files.Read == nil {
			p.fault(n, "%s_file needs the definition to be read from a file; write the %s into the definition", key, key)
			return "", nil, false
		}
		data, err := p.files.Read(name)
		if err != nil {
			p.fault(n, "%s_file: %v", key, err)
			return "", nil, false
		}
		if len(data) > maxDefinition {
			p.fault(n, "%s_file %s has %d bytes, more than %d", key, name, len(data), maxDefinition)
			return "", nil, false
		}
		inlined = true
		return name, data, true
	}
	if promptFile.Node != nil {
		if name, data, ok := read(promptFile, "prompt", prompt); ok {
			// Its lines count from the file's own first line.
			node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(data), Style: yaml.LiteralStyle, Line: 0}
			*prompt = located{node, beside(p.file, name)}
			replaceKey(root.Node, "prompt_file", "prompt", node)
		}
	}
	if schemaFile.Node != nil {
		if name, data, ok := read(schemaFile, "schema", schema); ok {
			node, fault := parseYAML(beside(p.file, name), data)
			if fault != nil {
				p.faults = append(p.faults, fault)
				return
			}
			*schema = node
			replaceKey(root.Node, "schema_file", "schema", node.Node)
		}
	}
	if inlined {
		source, err := yaml.Marshal(root.Node)
		if err != nil {
			p.fault(root, "the definition cannot be written with its files inside: %v", err)
			return
		}
		p.judge.Source = source
	}
}

// beside is the path of a file that a definition names.
func beside(file, name string) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 {
		return file[:i+1] + name
	}
	return name
}

func replaceKey(mapping *yaml.Node, old, name string, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == old {
			mapping.Content[i].Value = name
			mapping.Content[i+1] = value
		}
	}
}

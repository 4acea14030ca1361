package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// duplicateKey finds a key that an object gives twice. encoding/json would take
// the last one silently, and a report that says two things says nothing. doc is
// valid JSON; it is read once, without making anything of it.
func duplicateKey(doc json.RawMessage) error {
	var open []keys
	key := false // whether the next text is a key
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '{':
			open, key = append(open, keys{object: true}), true
		case '[':
			open, key = append(open, keys{}), false
		case '}', ']':
			open = open[:len(open)-1]
		case ',':
			key = len(open) > 0 && open[len(open)-1].object
		case '"':
			end := i + 1
			for doc[end] != '"' {
				if doc[end] == '\\' {
					end++
				}
				end++
			}
			if key {
				if name, twice := open[len(open)-1].add(doc[i : end+1]); twice {
					return fmt.Errorf("the report gives the key %q twice in one object", name)
				}
				key = false
			}
			i = end
		}
	}
	return nil
}

// keys of an object that is being read, or an array, which has none.
type keys struct {
	object bool
	few    []string
	many   map[string]bool // beside few, once there are more than a few
}

// fewKeys are looked through one by one.
const fewKeys = 16

// add reports whether a key, as it stands in the JSON, was there before.
func (k *keys) add(quoted []byte) (name string, twice bool) {
	name = string(quoted[1 : len(quoted)-1])
	if !plain(quoted) && json.Unmarshal(quoted, &name) != nil {
		return name, false // no key of valid JSON
	}
	for _, known := range k.few {
		if known == name {
			return name, true
		}
	}
	if k.many[name] {
		return name, true
	}
	if len(k.few) < fewKeys {
		k.few = append(k.few, name)
		return name, false
	}
	if k.many == nil {
		k.many = map[string]bool{}
	}
	k.many[name] = true
	return name, false
}

// plain says that a text stands in the JSON as it is.
func plain(quoted []byte) bool {
	return bytes.IndexByte(quoted, '\\') < 0 && bytes.IndexFunc(quoted, func(r rune) bool { return r >= 0x80 }) < 0
}

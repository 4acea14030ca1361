package openai

import (
	"bytes"
	"encoding/json"
	"errors"
)

// object is a JSON object with its members in order. The order of a schema's
// properties is the order in which a model writes them, and a judge's schema
// puts the explanation before what it explains.
type object []member

type member struct {
	name  string
	value any // object, []any, string, json.Number, bool or nil
}

func (o object) get(name string) (any, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// set replaces a member, or adds it at the end.
func (o *object) set(name string, value any) {
	for i, m := range *o {
		if m.name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for k, part := range []any{m.name, m.value} {
			text, err := json.Marshal(part)
			if err != nil {
				return nil, err
			}
			if k == 1 {
				b.WriteByte(':')
			}
			b.Write(text)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// readOrdered reads one JSON value, objects in order.
func readOrdered(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	return readValue(dec)
}

func readValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	switch delim {
	case '{':
		o := object{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			o = append(o, member{name.(string), value}) // keys are strings
		}
		_, err = dec.Token()
		return o, err
	case '[':
		list := []any{}
		for dec.More() {
			value, err := readValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = dec.Token()
		return list, err
	}
	return nil, errors.New("unexpected " + delim.String())
}

package harness

import (
	"bytes"
	"encoding/json"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// valueOf reads a JSON value as schemas take it: numbers with every digit they
// have. What the quick way does not read, such as a key given twice, is for
// jsonschema's own, which is also who says what is wrong.
func valueOf(doc []byte) (any, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(doc), jsontext.AllowInvalidUTF8(true))
	if value, err := nextValue(dec); err == nil && len(bytes.TrimLeft(dec.UnreadBuffer(), " \t\r\n")) == 0 {
		return value, nil
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(doc))
}

func nextValue(dec *jsontext.Decoder) (any, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{':
		object := map[string]any{}
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String() // before what follows, which takes its place
			if object[key], err = nextValue(dec); err != nil {
				return nil, err
			}
		}
		_, err = dec.ReadToken()
		return object, err
	case '[':
		list := []any{}
		for dec.PeekKind() != ']' {
			value, err := nextValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = dec.ReadToken()
		return list, err
	case '"':
		return token.String(), nil
	case '0':
		return json.Number(token.String()), nil
	case 't', 'f':
		return token.Bool(), nil
	}
	return nil, nil // null
}

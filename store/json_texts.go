package store

import (
	"encoding/json"
	"fmt"
)

// jsonTexts is a list of texts as a column of JSON holds it.
type jsonTexts []string

// Scan implements sql.Scanner.
func (l *jsonTexts) Scan(stored any) error {
	switch v := stored.(type) {
	case string:
		return json.Unmarshal([]byte(v), (*[]string)(l))
	case []byte:
		return json.Unmarshal(v, (*[]string)(l))
	}
	return fmt.Errorf("a list of texts can't be read from %T", stored)
}

// column is the list as it is stored.
func (l jsonTexts) column() (string, error) {
	body, err := json.Marshal(list(l))
	return string(body), err
}

package store

import "encoding/base64"

// cursor makes the place in a list that is ordered by id, the newest first.
// Outside it is an opaque text.
func cursor(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

func parseCursor(s string) (id string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil || !isID(string(raw)) {
		return "", invalid("after", "is not one that a list gave: start again without it")
	}
	return string(raw), nil
}

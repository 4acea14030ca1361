package store

import (
	"encoding/base64"
	"strings"
	"time"
)

// cursor is a place in a list that is ordered by time and id, the newest
// first. Outside it is an opaque text.
type cursor struct {
	at time.Time
	id string
}

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(c.at.UTC().Format(time.RFC3339Nano) + " " + c.id))
}

func parseCursor(s string) (cursor, error) {
	bad := invalid("after", "is not one that a list gave: start again without it")
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return cursor{}, bad
	}
	at, id, ok := strings.Cut(string(raw), " ")
	if !ok || id == "" {
		return cursor{}, bad
	}
	when, err := time.Parse(time.RFC3339Nano, at)
	if err != nil {
		return cursor{}, bad
	}
	return cursor{when.UTC(), id}, nil
}

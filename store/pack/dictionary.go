package pack

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxDictionary is the longest content of a dictionary, in bytes: 64 KiB.
const MaxDictionary = 64 << 10

// Dictionary is text that others of its kind repeat. It is immutable and safe
// for concurrent use.
type Dictionary struct {
	// ID names the dictionary on disk. It is never 0.
	ID uint32

	content []byte
}

// NewDictionary makes a dictionary of any content, such as Train gives, and
// keeps a copy of it. What was packed with an id can only be unpacked with the
// same content under that id. The error says that the id is 0 or that the
// content is empty or longer than MaxDictionary.
func NewDictionary(id uint32, content []byte) (*Dictionary, error) {
	switch {
	case id == 0:
		return nil, errors.New("pack: a dictionary can't have the id 0, which means none; number dictionaries from 1")
	case len(content) == 0:
		return nil, fmt.Errorf("pack: dictionary %d is empty; pack without one until there are samples", id)
	case len(content) > MaxDictionary:
		return nil, fmt.Errorf("pack: dictionary %d has %d bytes, more than %d; train it with that limit", id, len(content), MaxDictionary)
	}
	return &Dictionary{ID: id, content: bytes.Clone(content)}, nil
}

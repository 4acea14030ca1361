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

// Train makes the content of a dictionary of at most maxSize bytes (at most
// MaxDictionary; nothing when it is not positive): whole samples, each once, in
// their order, as long as they fit, and the start of the first when not even
// that fits. Give samples of one kind (the prompts of a judge's version, its
// reports, a project's traces) and the newest last.
//
// Whole samples beat what looks cleverer. A dictionary of only what recurs in
// the samples took 172 bytes a prompt instead of 159, because the distance
// between a template and its copy then changes at every gap; the builder of
// klauspost/compress took half as much again (2.2 KB where whole samples took
// 1.5 KB, both without a base).
//
// A size of 16 KiB is right for what is packed against a base: all of it is
// indexed at every call, and 64 KiB saved 4 bytes in 100 of a reply and none of
// a prompt for more than twice the time. A text without a base keeps the index
// from call to call, so traces may have 64 KiB.
func Train(samples [][]byte, maxSize int) []byte {
	maxSize = min(maxSize, MaxDictionary)
	var content []byte
	for i, s := range samples {
		repeated := false
		for _, earlier := range samples[:i] {
			repeated = repeated || bytes.Equal(earlier, s)
		}
		if !repeated && len(content)+len(s) <= maxSize {
			content = append(content, s...)
		}
	}
	if len(content) == 0 && len(samples) > 0 && maxSize > 0 {
		content = bytes.Clone(samples[0][:min(maxSize, len(samples[0]))])
	}
	return content
}

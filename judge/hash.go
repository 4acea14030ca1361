package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
)

// HashText is the hex SHA-256 of a text.
func HashText(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// TraceHashes are the hashes of a trace's content. Two traces with equal
// content are the same revision. Labels, judgments, the run and the wanted
// judges hang on a trace and are not its content: bringing more of them later
// does not make a new revision.
//
// The content's hash is over each field's name, the number of its bytes and
// the bytes, so that no two contents read alike; metadata go in as JSON with
// sorted keys.
func TraceHashes(t Trace) Hashes {
	c := contents.Get().(*content)
	defer contents.Put(c)
	c.bytes = slices.Grow(c.bytes[:0], contentSize(&t))
	c.field("domain", t.Domain)
	c.field("stakes", string(t.Stakes))
	c.field("question", t.Question)
	c.field("output", t.Output)
	c.field("reference", t.Reference)
	c.list("premise", t.Premises)
	c.field("conclusion", t.Conclusion)
	for _, s := range t.Sources {
		c.field("source.id", s.ID)
		c.field("source.text", s.Text)
		c.field("source.title", s.Title)
		c.field("source.url", s.URL)
	}
	c.list("constraint", t.Constraints)
	c.list("tag", t.Tags)
	c.field("cluster", t.Cluster)
	if len(t.Metadata) > 0 {
		// Metadata were read from JSON, so they always encode.
		body, err := json.Marshal(t.Metadata)
		if err != nil {
			panic("judge: metadata that were read cannot be encoded: " + err.Error())
		}
		c.field("metadata", string(body))
	}
	sum := sha256.Sum256(c.bytes)
	h := Hashes{Trace: hex.EncodeToString(sum[:]), Candidate: c.hashOf(t.Output)}
	if t.Reference != "" {
		h.Reference = c.hashOf(t.Reference)
	}
	return h
}

// content is what is hashed of a trace.
type content struct{ bytes []byte }

// contents are used again: a trace is hashed wherever it goes.
var contents = sync.Pool{New: func() any { return new(content) }}

// hashOf is HashText in the same memory.
func (c *content) hashOf(text string) string {
	c.bytes = append(c.bytes[:0], text...)
	sum := sha256.Sum256(c.bytes)
	return hex.EncodeToString(sum[:])
}

// contentSize is about how many bytes the content takes, but for metadata.
func contentSize(t *Trace) int {
	n := 1024 + len(t.Question) + len(t.Output) + len(t.Reference) + len(t.Conclusion)
	for _, s := range t.Sources {
		n += 64 + len(s.ID) + len(s.Text) + len(s.Title) + len(s.URL)
	}
	for _, list := range [][]string{t.Premises, t.Constraints, t.Tags} {
		for _, v := range list {
			n += 32 + len(v)
		}
	}
	return n
}

func (c *content) field(name, value string) {
	if value == "" {
		return
	}
	c.bytes = append(c.bytes, name...)
	c.bytes = append(c.bytes, ' ')
	c.bytes = strconv.AppendInt(c.bytes, int64(len(value)), 10)
	c.bytes = append(c.bytes, ' ')
	c.bytes = append(c.bytes, value...)
	c.bytes = append(c.bytes, '\n')
}

func (c *content) list(name string, values []string) {
	for _, v := range values {
		// An empty element still counts.
		c.bytes = append(c.bytes, name...)
		c.bytes = append(c.bytes, '\n')
		c.field(name, v)
	}
}

// EvaluationID names an evaluation by what makes it one: trace, revision, judge,
// prompt version, engine, model, and the recorded report it takes. The same
// evaluation always has the same id, so an audit draw can be repeated and work
// that is planned twice is one evaluation. The form is a UUID (version 8).
func EvaluationID(t *Trace, h Hashes, p Planned) string {
	parts := []any{t.ID, h.Trace, p.Judge, p.PromptVersion, p.Engine, p.Model, p.Judgment}
	if p.Endpoint != "" || p.Samples > 1 {
		parts = append(parts, p.Endpoint, max(1, p.Samples))
	}
	content, err := json.Marshal(parts)
	if err != nil {
		panic("judge: strings and a number cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(content)
	sum[6] = sum[6]&0x0f | 0x80
	sum[8] = sum[8]&0x3f | 0x80
	x := hex.EncodeToString(sum[:16])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:]
}

package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strconv"

	"github.com/countersign/countersign/judge"
)

// callName is the name under which ledger and purse know a call: a hash of all
// that is sent. An evaluation that asks the very same again (a repair of the same
// reply) makes another call of the same evaluation, and it gets another name: its
// reply is paid for too, and need not be the same.
func (l *line) callName(c judge.Conversation, p judge.Params) (string, error) {
	schema := p.Schema
	p.Schema = nil
	rest, err := json.Marshal(p)
	if err != nil {
		return "", fmt.Errorf("encode the call: %w", err)
	}
	h := sha256.New()
	sized(h, l.chat.Name())
	for _, m := range c {
		sized(h, m.Role)
		sized(h, m.Content)
	}
	sized(h, string(rest))
	sized(h, string(schema))
	name := hex.EncodeToString(h.Sum(nil))
	if l.asked == nil {
		l.asked = map[string]int{}
	}
	if l.asked[name]++; l.asked[name] > 1 {
		name += "." + strconv.Itoa(l.asked[name])
	}
	return name, nil
}

// sized writes a text with its length before it, so that no two lists of texts
// read alike.
func sized(h hash.Hash, text string) {
	io.WriteString(h, strconv.Itoa(len(text))+" ") // never fails: a hash takes everything
	io.WriteString(h, text)
}

package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
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
	h := sizedHash{Hash: sha256.New()}
	h.add(l.chat.Name())
	for _, m := range c {
		h.add(m.Role)
		h.add(m.Content)
	}
	h.add(string(rest))
	h.add(string(schema))
	name := hex.EncodeToString(h.Sum(nil))
	if l.asked == nil {
		l.asked = map[string]int{}
	}
	if l.asked[name]++; l.asked[name] > 1 {
		name += "." + strconv.Itoa(l.asked[name])
	}
	return name, nil
}

// sizedHash hashes texts, each with its length before it, so that no two lists of
// texts read alike.
type sizedHash struct {
	hash.Hash
	buffer [4096]byte // a text is hashed through it, since it is no slice of bytes
}

func (h *sizedHash) add(text string) {
	h.Write(append(strconv.AppendInt(h.buffer[:0], int64(len(text)), 10), ' ')) // never fails: a hash takes everything
	for len(text) > 0 {
		n := copy(h.buffer[:], text)
		h.Write(h.buffer[:n])
		text = text[n:]
	}
}

package harness

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

// nonce marks the fences round a trace's text. It depends on the trace and the
// installation's key: the same trace gives the same prompt again, and its author
// cannot guess the mark that would close a fence.
func nonce(key []byte, traceHash string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("fence\x00" + traceHash))
	return hex.EncodeToString(mac.Sum(nil))[:20]
}

// firstPrompt is the conversation that opens an evaluation: the rules of the
// house with the schema, then the judge's own template, filled.
func firstPrompt(j *judge.Judge, t *judge.Trace, mark string) judge.Conversation {
	var derived map[string]string
	if j.Derive != nil {
		derived = j.Derive(t)
	}
	user := judge.FillTemplate(j.Prompt, func(name string) (string, bool) {
		if name == j.ExamplesIn && len(j.Examples) > 0 {
			return strings.TrimSpace(judge.ExamplesText(j.Examples, mark)), true
		}
		if text, ok := j.Blocks[name]; ok {
			return strings.TrimSpace(text), true
		}
		if text, ok := derived[name]; ok {
			return judge.Fence(name, text, mark), text != ""
		}
		field, ok := judge.PlaceholderField(name)
		if !ok || !judge.HasField(t, field) {
			return "", false
		}
		return fenced(name, t, field, mark), true
	})
	return judge.Conversation{
		{Role: judge.RoleSystem, Content: judge.SystemPrompt(mark, j.Schema)},
		{Role: judge.RoleUser, Content: strings.TrimSpace(user)},
	}
}

// fenced is the text of a trace field between its fences. Each source has its
// own, so that no source can pass itself off as another.
func fenced(name string, t *judge.Trace, field, mark string) string {
	switch field {
	case "question":
		return judge.Fence(name, t.Question, mark)
	case "output":
		return judge.Fence(name, t.Output, mark)
	case "reference":
		return judge.Fence(name, t.Reference, mark)
	case "conclusion":
		return judge.Fence(name, t.Conclusion, mark)
	case "premises":
		return judge.Fence(name, numbered(t.Premises), mark)
	case "constraints":
		return judge.Fence(name, numbered(t.Constraints), mark)
	}
	parts := make([]string, len(t.Sources))
	for i, s := range t.Sources {
		head := "id: " + quoted(s.ID)
		if s.Title != "" {
			head += "\ntitle: " + quoted(s.Title)
		}
		parts[i] = judge.Fence(fmt.Sprintf("%s %d", name, i+1), head+"\ntext:\n"+s.Text, mark)
	}
	return strings.Join(parts, "\n")
}

func numbered(items []string) string {
	if len(items) == 1 {
		return items[0]
	}
	var b strings.Builder
	for i, item := range items {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d. %s", i+1, item)
	}
	return b.String()
}

// quoted keeps an id or a title on one line.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil { // a string always encodes
		panic(err)
	}
	return string(b)
}

// repairPrompt asks for the report again, with every fault and the schema.
func repairPrompt(j *judge.Judge, mark string, faults []string) judge.Message {
	return judge.Message{Role: judge.RoleUser, Content: judge.RepairPrompt(mark, faults, j.Schema)}
}

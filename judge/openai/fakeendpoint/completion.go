package fakeendpoint

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// complete is the body of an answer.
func (e *Endpoint) complete(q *request, f fault, d die, requestSize int) []byte {
	m := q.read()
	content, refusal, finish := "", "", "stop"
	switch f {
	case refused:
		refusal = "I can't help with that."
	case malformed:
		content = spoil(encode(e.report(&m, false)), d.part(forKind))
	case cutShort:
		report := encode(e.report(&m, false))
		content, finish = report[:len(report)/2], "length"
	case inconsistent:
		content = preamble(d.part(forKind)) + encode(e.report(&m, true))
	default:
		content = encode(e.report(&m, false))
	}
	b := make([]byte, 0, 512+2*len(content))
	b = append(b, `{"id":"chatcmpl-fake","object":"chat.completion","created":1700000000,"model":`...)
	b = append(b, encode(q.Model)...)
	b = append(b, `,"choices":[{"index":0,"message":{"role":"assistant","content":`...)
	b = append(b, encode(content)...)
	b = append(b, `,"refusal":`...)
	if refusal == "" {
		b = append(b, "null"...)
	} else {
		b = append(b, encode(refusal)...)
	}
	b = append(b, `},"finish_reason":"`...)
	b = append(b, finish...)
	// Four bytes a token, as a rough model has it.
	prompt, completion := requestSize/4+1, len(content)/4+1
	b = append(b, `"}],"usage":{"prompt_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt), 10)
	b = append(b, `,"completion_tokens":`...)
	b = strconv.AppendInt(b, int64(completion), 10)
	b = append(b, `,"total_tokens":`...)
	b = strconv.AppendInt(b, int64(prompt+completion), 10)
	return append(b, `}}`...)
}

// spoil makes a reply of a report that no report can be read from, or that its
// schema refuses. No two replies are alike.
func spoil(report string, kind uint64) string {
	unlike := strconv.FormatUint(kind, 36)
	switch kind % 6 {
	case 0:
		return preamble(kind) + report[:len(report)/2]
	case 1:
		return "I would rather talk about " + unlike + " than fill in a form."
	case 2:
		return preamble(kind) + "```json\n" + report[:len(report)-1] + ",}\n```"
	case 3:
		return report + "\n" + unlike + "\n" + report
	case 4:
		return `{"thought":"` + unlike + `"}`
	}
	return "[" + report + `,"` + unlike + `"]`
}

// preamble keeps the replies to two calls apart, so that what is asked next is
// another question.
func preamble(kind uint64) string { return "Answer " + strconv.FormatUint(kind, 36) + ":\n" }

func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("fakeendpoint: a report cannot be encoded: " + err.Error())
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

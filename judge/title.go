package judge

import "strings"

// titleRunes bounds the line that lists show for a trace.
const titleRunes = 120

// Title is one line for lists: the question, or the beginning of the output;
// at most 120 characters.
func (t *Trace) Title() string {
	from := t.Question
	if strings.TrimSpace(from) == "" {
		from = t.Output
	}
	if len(from) > 8*titleRunes { // enough for 120 characters, however many bytes
		from = strings.ToValidUTF8(from[:8*titleRunes], "")
	}
	line := []rune(strings.Join(strings.Fields(from), " "))
	if len(line) > titleRunes {
		line = append(line[:titleRunes-1], '…')
	}
	return string(line)
}

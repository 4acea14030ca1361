package builtin_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// A prompt without its optional inputs has neither a placeholder nor a heading
// with nothing under it.
func TestPromptsWithoutOptionalInputs(t *testing.T) {
	placeholder := regexp.MustCompile(`\[[A-Z_]{3,}\]|\[(IF|END) `)
	for _, j := range builtin.Judges() {
		required := map[string]bool{}
		for _, in := range j.Inputs {
			required[in.Field] = in.Required
		}
		got := judge.FillTemplate(j.Prompt, func(name string) (string, bool) {
			if text, ok := j.Blocks[name]; ok {
				return text, true
			}
			field, ok := judge.PlaceholderField(name)
			return "(value)", !ok || required[field]
		})
		if m := placeholder.FindString(got); m != "" {
			t.Errorf("judge %s: the prompt keeps %q", j.Name, m)
		}
		if strings.Contains(got, ":\n\n\n") || strings.Contains(got, ":\n\nThe ") {
			t.Errorf("judge %s: a heading has nothing under it:\n%s", j.Name, got)
		}
	}
}

// Every input that a judge declares has a placeholder in its prompt.
func TestPromptsShowEveryInput(t *testing.T) {
	for _, j := range builtin.Judges() {
		shown := map[string]bool{}
		for _, p := range judge.Placeholders(j.Prompt) {
			if field, ok := judge.PlaceholderField(p.Name); ok {
				shown[field] = true
			}
		}
		for _, in := range j.Inputs {
			if !shown[in.Field] {
				t.Errorf("judge %s: the prompt does not show %s", j.Name, in.Field)
			}
		}
	}
}

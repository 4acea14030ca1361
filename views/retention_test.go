package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/views"
)

// A text that retention removed is said with the day, and not passed over.
func TestRemovedTexts(t *testing.T) {
	p := evaluationPage()
	if strings.Contains(source(t, views.Evaluation(p)), "Removed by retention") {
		t.Error("a page whose texts are there says that they were removed")
	}
	at := time.Date(2026, 4, 3, 23, 30, 0, 0, time.UTC)
	p.Attempts[0].Reply, p.Attempts[0].ReplyRemoved = "", &at
	page := source(t, views.Evaluation(p))
	if got := strings.Count(page, "Removed by retention on 2026-04-03. Its hash is kept."); got != 1 {
		t.Errorf("the page says %d times that a reply was removed, want once:\n%s", got, page)
	}
}

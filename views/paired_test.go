package views

import (
	"strings"
	"testing"
)

// A look says what became of the labelled traces that are in none of its figures.
func TestLookSaysWhatIsLeftOut(t *testing.T) {
	look := SeenLook{Number: 1, By: "lea", Paired: Paired{N: 160, Abstained: 4, Incomparable: 1}}
	var page strings.Builder
	if err := testSplit(ComparePage{Split: TestSplit{Locked: true, N: 165, Looks: 1, Seen: []SeenLook{look}}}, Comparison{}).Render(t.Context(), &page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "Besides these 160, 5 labelled traces that both judged are in no figure: on 4 somebody abstained, on 1 there is no answer on a common scale.") {
		t.Errorf("the 5 are not told of in %s", page.String())
	}
}

package views

import (
	"time"

	"github.com/a-h/templ"
)

// Thread is the questions on an item, and what a reader may do with them. Its
// controls have the names question, question_to, reply.ID and thread; they post
// to /reviews/{ReviewID}/comments.
type Thread struct {
	Frame
	ReviewID string
	// Form is the id of the form that the controls belong to, so that nothing else
	// that was typed is lost when a question is sent; empty: they have one of their own.
	Form      string
	Questions []Question
	// Sealed is how many comments are kept from this reader until they answer.
	Sealed int
	// WouldTell says that others will read this reader's words only after they
	// have answered, because this reader knows more than they may.
	WouldTell bool
	MayWrite  bool
	// People are who may be asked by name or by role; the first is anybody.
	People []Choice
	// Draft is a question that is being written.
	Draft, DraftTo string
}

// Question is a comment that begins a thread, with the answers.
type Question struct {
	Comment
	To       string // whom it asks; empty: anybody
	Resolved string // who said that it is answered; empty: open
	// MayResolve: this reader says whether it is answered.
	MayResolve bool
	Answers    []Comment
	Draft      string // an answer that is being written
}

// Comment is what one person said.
type Comment struct {
	ID, Who     string
	At          time.Time
	Text        string
	Withdrawn   bool // its author took it back
	MayWithdraw bool
}

// path is where an action on a comment posts to.
func (t Thread) path(comment, action string) string {
	p := "/reviews/" + t.ReviewID + "/comments"
	if comment != "" {
		p += "/" + comment + "/" + action
	}
	return p
}

// open counts the questions that nobody has marked as answered.
func (t Thread) open() (n int) {
	for _, q := range t.Questions {
		if q.Resolved == "" && !q.Withdrawn {
			n++
		}
	}
	return n
}

// owner is the attribute that ties a control to a form elsewhere on the page.
func (t Thread) owner() templ.Attributes {
	if t.Form == "" {
		return nil
	}
	return templ.Attributes{"form": t.Form}
}

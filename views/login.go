package views

// LoginPage is the sign-in page. Its form posts email, password and next to
// /login.
type LoginPage struct {
	Frame
	// Email as typed before, when the last try failed.
	Email string
	// Fault is what was wrong with the last try; empty on the first.
	Fault string
	// Next is the path to go to once signed in.
	Next string
	// DemoEmail and DemoPassword are printed on the page of a demonstration,
	// and nowhere else: empty leaves them out.
	DemoEmail    string
	DemoPassword string
}

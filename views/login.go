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
}

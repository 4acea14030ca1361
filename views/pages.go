package views

// ErrorPage says that something did not work.
type ErrorPage struct {
	Frame
	Status   int    // the HTTP status
	Heading  string // what happened, in a few words
	What     string // what happened, in a sentence
	Safe     string // what is safe; optional
	Do       string // what to do next; optional
	LinkHref string // where to go on; optional
	LinkText string
	ID       string     // to find it in the log; optional
	Again    *FormAgain // a form that could not be stored; nil: none
}

// FormAgain is a form that is sent again as it was.
type FormAgain struct {
	Path   string // it posts to
	Fields []FieldAgain
}

// FieldAgain is one value of a form.
type FieldAgain struct{ Name, Value string }

// PreferencesPage has a person's own settings. Its form posts theme
// (light, dark or empty), density (compact or empty), shortcuts (on) and
// project to /preferences.
type PreferencesPage struct {
	Frame
	Email string
	// Saved values are in the Frame: Theme, Density, Shortcuts, Project, Projects.
}

// HelpPage explains the keys and the words.
type HelpPage struct {
	Frame
}

// ImportPage takes a file of traces. Its form posts file, run and strict (on)
// as multipart to /import.
type ImportPage struct {
	Frame
	Run    string // as typed
	Strict bool
	// MaxBytes that a file may have.
	MaxBytes int64
	// Fault of the whole upload; empty when there is none.
	Fault string
	// Result of the last upload; nil before it.
	Result *ImportResult
}

// ImportResult is what came of an upload.
type ImportResult struct {
	File      string
	New       int // traces that were not there
	Revised   int // traces that came with other content
	Unchanged int
	Faults    []ImportFault
	// MoreFaults were left out of the list.
	MoreFaults int
	// EvaluationsHref leads to what was made of it.
	EvaluationsHref string
}

// ImportFault is one line that was not imported.
type ImportFault struct {
	Line  int
	Field string // empty when the whole line is at fault
	Text  string
}

package web

import "time"

// Beat sets how often the database is asked and how often a silent stream
// sends a comment. For a server without listeners.
func (s *Server) Beat(every, comfort time.Duration) {
	s.listeners.every, s.comfortEvery = every, comfort
}

// LimitListeners sets how many may listen.
func (s *Server) LimitListeners(aUser, atAll int) {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	s.listeners.aUser, s.listeners.atAll = aUser, atAll
}

// Listeners is how many listen, and whether the database is asked for them.
func (s *Server) Listeners() (n int, asking bool) {
	s.listeners.mu.Lock()
	defer s.listeners.mu.Unlock()
	return len(s.listeners.all), s.listeners.asking
}

// SheetsKept is of how many items the server remembers what can be ruled on.
func (s *Server) SheetsKept() int {
	s.sheets.mu.Lock()
	defer s.sheets.mu.Unlock()
	return s.sheets.kept.Len()
}

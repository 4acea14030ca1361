package store

import "slices"

// Role is what a person may do.
type Role string

const (
	Reviewer Role = "reviewer" // own queue, decide
	Lead     Role = "lead"     // all of that, judges, policy, calibration, assign, adjudicate
	Auditor  Role = "auditor"  // reads everything, changes nothing, exports
	Admin    Role = "admin"    // users, tokens, settings, and all that a lead may
)

// ParseRole reads a role's name.
func ParseRole(s string) (Role, error) {
	switch r := Role(s); r {
	case Reviewer, Lead, Auditor, Admin:
		return r, nil
	}
	return "", invalid("role", "%q is not one of reviewer, lead, auditor, admin", s)
}

// Actor is who acts. Every state-changing method takes one.
type Actor struct {
	UserID string // empty for the operator at the command line and the worker
	Name   string // as the audit log shows it
	Role   Role
}

// Operator is whoever runs the program on its own machine and so holds the
// database file: the command line and the judging worker act as it.
func Operator(name string) Actor { return Actor{Name: name, Role: Admin} }

// MayDecide says whether the actor is a person who can be asked for a verdict,
// and from whom a blind verdict is therefore kept.
func (a Actor) MayDecide() bool {
	return a.UserID != "" && slices.Contains(deciders, a.Role)
}

var (
	deciders = []Role{Reviewer, Lead, Admin}
	leads    = []Role{Lead, Admin}
	admins   = []Role{Admin}
	readers  = []Role{Lead, Auditor, Admin} // audit log, calibration, exports
	everyone = []Role{Reviewer, Lead, Auditor, Admin}
)

package store

import (
	"errors"
	"fmt"
	"syscall"
)

// The four ways in which a call can be refused. Everything else is a fault of
// ours or of the machine. Callers test with errors.Is.
var (
	ErrNotFound  = errors.New("not found")
	ErrConflict  = errors.New("conflict")
	ErrInvalid   = errors.New("invalid")
	ErrForbidden = errors.New("forbidden")
)

// FieldError is bad input of one field. It is an ErrInvalid.
type FieldError struct {
	Field   string // the name the API and the forms use
	Message string // a plain sentence part: "is missing", "is longer than 4,000 characters"
}

func (e *FieldError) Error() string { return e.Field + ": " + e.Message }

// Is makes errors.Is(err, ErrInvalid) true.
func (e *FieldError) Is(target error) bool { return target == ErrInvalid }

func invalid(field, format string, args ...any) error {
	return &FieldError{Field: field, Message: fmt.Sprintf(format, args...)}
}

// TroubleError says that the database can't do its work now: it is away, busy
// or full. Nothing was stored, and the same call may succeed later.
type TroubleError struct {
	What string // what happened, in plain words
	Do   string // what to do about it
}

func (e *TroubleError) Error() string { return e.What + ": " + e.Do }

// wrap adds what was being done to an error, and nothing to nil.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// plainly puts plain words before an error that says what keeps the database
// from working, and leaves others as they are. Deferred after wrap, it runs first.
func plainly(e engine, err *error) {
	var known *TroubleError
	if *err == nil || errors.As(*err, &known) {
		return
	}
	trouble := e.trouble(*err)
	if trouble == nil && errors.Is(*err, syscall.ENOSPC) {
		trouble = &TroubleError{"the disk is full, nothing was stored", "free space on it"}
	}
	if trouble != nil {
		*err = fmt.Errorf("%w (%w)", trouble, *err)
	}
}

// Trouble says in plain words what keeps the database from working, when err
// comes from that; nil otherwise.
func (s *Store) Trouble(err error) *TroubleError {
	var known *TroubleError
	if errors.As(err, &known) {
		return known
	}
	if errors.As(s.engine.trouble(err), &known) {
		return known
	}
	return nil
}

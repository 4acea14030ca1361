package store

import (
	"fmt"
	"time"
)

// HeldError says that somebody else holds the item. It is an ErrConflict.
type HeldError struct {
	HolderName string
	Until      time.Time // when the claim runs out unless it is renewed
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%s holds this item until %s: wait for it or take another", e.HolderName, e.Until.UTC().Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *HeldError) Is(target error) bool { return target == ErrConflict }

// DecidedError says that the item is settled, and by what. It is an
// ErrConflict.
type DecidedError struct {
	Decision Decision // the one that counts
}

func (e *DecidedError) Error() string {
	return fmt.Sprintf("%s already decided this item at %s: reopen it to correct the decision",
		e.Decision.UserName, e.Decision.At.UTC().Format(time.RFC3339))
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *DecidedError) Is(target error) bool { return target == ErrConflict }

// ExpiredError says that the actor holds no claim on the item, though nobody
// else does either: it was never made, was given back, or ran out and was
// taken and given back since. It is an ErrConflict.
type ExpiredError struct {
	EndedBy string    // who ended the actor's claim; empty: nobody but time or the actor
	EndedAt time.Time // zero without EndedBy
}

func (e *ExpiredError) Error() string {
	if e.EndedBy != "" {
		return fmt.Sprintf("%s ended your claim on this item at %s: claim it again, then decide", e.EndedBy, e.EndedAt.Format(time.RFC3339))
	}
	return "this item is not claimed by you any more: claim it again, then decide"
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ExpiredError) Is(target error) bool { return target == ErrConflict }

// RefusedError says in a plain sentence why something does not fit how things
// stand. It is an ErrConflict.
type RefusedError struct {
	Why string // "you have given your answer on this item already"
}

func (e *RefusedError) Error() string { return e.Why + ": " + ErrConflict.Error() }

// Is makes errors.Is(err, ErrConflict) true.
func (e *RefusedError) Is(target error) bool { return target == ErrConflict }

// refuse is a RefusedError.
func refuse(format string, args ...any) error { return &RefusedError{fmt.Sprintf(format, args...)} }

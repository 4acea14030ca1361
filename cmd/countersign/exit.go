package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// Exit codes. A gate also uses 3 (the judge is not trusted) and 4 (evaluations
// wait for review), see release.Outcome.
const (
	exitOK          = 0
	exitFailed      = 1 // something is bad: lines of a file, a definition, a chain, or the machine
	exitUsage       = 2 // bad usage or input: nothing was done
	exitInterrupted = 130
)

// errInterrupted ends a command that was told to stop. What is done is kept.
var errInterrupted = errors.New("stopped: what is done is kept, the same command goes on from here")

// anewError ends a command that was told to stop and keeps nothing of what it
// did; its text says how things stand.
type anewError struct{ error }

func (e anewError) Unwrap() error { return e.error }

// errFailed ends a command that has said on stderr already what is bad.
var errFailed = errors.New("failed")

// usageError is bad usage or input; its text says what to do.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitCode of a command's error.
func exitCode(err error) int {
	var usage usageError
	var parse *kong.ParseError
	var unknown *judge.UnknownJudgeError
	var gate gateError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled), errors.As(err, new(anewError)):
		return exitInterrupted
	case errors.As(err, &usage), errors.As(err, &parse), errors.As(err, &unknown),
		errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrNotFound):
		return exitUsage
	}
	if errors.As(err, &gate) {
		return gate.outcome.ExitCode()
	}
	return exitFailed
}

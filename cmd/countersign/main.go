// Command countersign grades reasoning traces with language models as judges,
// checks their reports, and hands what is ambiguous to people.
//
// This package wires: flags, environment, signals, exit codes. It decides
// nothing that a library user of the other packages would have to know.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/mattn/go-isatty"
)

func main() { os.Exit(program()) }

func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal stops in good order; a second one ends the program as
	// signals do.
	context.AfterFunc(ctx, stop)
	return run(ctx, &state{
		args: os.Args[1:], lookupEnv: os.LookupEnv,
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		terminal: isatty.IsTerminal(os.Stderr.Fd()),
	})
}

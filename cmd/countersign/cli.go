package main

import (
	"context"
	"errors"
	"log/slog"

	"github.com/alecthomas/kong"
)

// cli is the command line. Each command is in the file of its name.
type cli struct {
	Config string `help:"Configuration file; countersign.yaml of this folder when it is there." placeholder:"FILE" env:"COUNTERSIGN_CONFIG"`

	Demo        demoCmd        `cmd:"" help:"Show real example data with the embedded judge and a ready login."`
	Serve       serveCmd       `cmd:"" help:"Serve the pages and the API, and judge what is queued."`
	Import      importCmd      `cmd:"" help:"Import trace files into a project."`
	Judge       judgeCmd       `cmd:"" help:"Judge a trace file without a server or database."`
	Gate        gateCmd        `cmd:"" help:"Judge a trace file and decide whether it may be released: for CI."`
	Calibration calibrationCmd `cmd:"" help:"Show how far judges agree with people."`
	Thresholds  thresholdsCmd  `cmd:"" help:"Show what another pass cut or band of a judge would cost in mistakes and in people's hours."`
	Agreement   agreementCmd   `cmd:"" help:"Compute agreement statistics of any ratings file; no project needed."`
	Drift       driftCmd       `cmd:"" help:"Watch judges against a frozen baseline; close alarms; judge a sentinel set again and again."`
	Policy      policyCmd      `cmd:"" help:"Show, set and try the policy of a project: what is sent to people, blindness, endpoints, models."`
	Rerun       rerunCmd       `cmd:"" help:"Judge history again: what failed, or all by another version or model. The cost is shown first."`
	Export      exportCmd      `cmd:"" help:"Write evaluations, decisions, labels, the audit log or traces."`
	Audit       auditCmd       `cmd:"" help:"Check the audit chain; replay an evaluation."`
	Backup      backupCmd      `cmd:"" help:"Write a verified backup of the database, while servers go on."`
	Restore     restoreCmd     `cmd:"" help:"Make a backup the database."`
	Copy        copyCmd        `cmd:"" help:"Move everything to another database: SQLite and PostgreSQL, both ways."`
	Upkeep      upkeepCmd      `cmd:"" help:"Remove old raw replies, drop leftovers, put the database in order."`
	Judges      judgesCmd      `cmd:"" help:"List, show and validate judges."`
	User        userCmd        `cmd:"" help:"Add and list users, disable them, set passwords."`
	Token       tokenCmd       `cmd:"" help:"Create, list and revoke API tokens."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
}

const description = `Language models judge reasoning traces, the harness checks their reports, people decide
what is ambiguous, and agreement is measured.

Every option comes from its flag, else its environment variable, else countersign.yaml, else its default.
OPENAI_API_KEY comes from the environment, or OPENAI_API_KEY_FILE names a file that holds it.
Exit codes: 0 done; 1 something is bad (a line, a definition, a chain); 2 bad usage or input; 130 stopped.
countersign gate also ends with 3 (a judge is not trusted) and 4 (evaluations wait for people).`

// run runs the program once and returns its exit code.
func run(ctx context.Context, s *state) int {
	s.byName, s.inEnv, s.inFile, s.db = map[string]bool{}, map[string]bool{}, map[string]bool{}, nil
	s.log = slog.New(slog.NewTextHandler(s.stderr, nil))
	err := s.plainly(runCommand(ctx, s))
	var asked exitRequest
	if errors.As(err, &asked) {
		return int(asked)
	}
	code := exitCode(err)
	switch {
	case code == exitInterrupted && errors.As(err, new(anewError)):
		s.say("countersign: %v", err)
	case code == exitInterrupted:
		s.say("countersign: %v", errInterrupted) // not where it happened to be
	case err != nil && !errors.Is(err, errFailed) && !errors.As(err, new(gateError)):
		s.say("countersign: %v", err)
	}
	return code
}

// exitRequest is how kong's own exits (help) come back out of its parser.
type exitRequest int

func (exitRequest) Error() string { return "exit" }

func runCommand(ctx context.Context, s *state) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exitRequest:
			err = p
		default:
			panic(p)
		}
	}()
	var c cli
	parser, err := kong.New(&c,
		kong.Name("countersign"), kong.Description(description),
		kong.Writers(s.stdout, s.stderr),
		kong.Exit(func(code int) { panic(exitRequest(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}),
		kong.Resolvers(&resolver{s}),
		kong.Bind(s),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		return err
	}
	if len(s.args) == 0 {
		s.args = []string{"--help"}
	}
	parsed, err := parser.Parse(s.args)
	if err != nil {
		return err
	}
	return parsed.Run()
}

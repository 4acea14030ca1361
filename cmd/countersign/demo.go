package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/countersign/countersign/cmd/countersign/demo"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/web"
)

type demoCmd struct {
	addrFlag
	Data string `help:"Folder of the demo's database; an existing one goes on (default: countersign-demo in the platform's data folder)." placeholder:"DIR"`
}

// demoUsers sign in with one click and have no password.
var demoUsers = []store.NewUser{
	{Email: "reviewer@demo.example", Name: "Rita Reviewer", Role: store.Reviewer},
	{Email: "lead@demo.example", Name: "Leo Lead", Role: store.Lead},
	{Email: "auditor@demo.example", Name: "Ada Auditor", Role: store.Auditor},
}

// Run fills a folder with the example traces, judges them and serves.
func (c demoCmd) Run(ctx context.Context, s *state) (err error) {
	folder, err := dataFlags{Data: c.Data}.folder(s, "countersign-demo")
	if err != nil {
		return err
	}
	db, err := openStore(ctx, s, store.Options{Path: databaseIn(folder), Now: s.now})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	project, err := db.EnsureProject(ctx, s.operator(), store.DefaultProject)
	if err != nil {
		return err
	}
	own, err := demo.Judges()
	if err != nil {
		return err
	}
	known, err := db.Judges(ctx, project.Name)
	if err != nil {
		return err
	}
	fresh := len(known) == 0
	if fresh {
		if err := demoPilot(ctx, s, db, project); err != nil {
			return err
		}
		if err := demoRule(ctx, s, db, project); err != nil {
			return err
		}
		if project, err = db.ProjectNamed(ctx, project.Name); err != nil {
			return err
		}
	}
	judges, err := newHarnesses(ctx, s, db, builtin.Judges(), demoEngines(nil))
	if err != nil {
		return err
	}
	h, err := judges.with(ctx, project, own)
	if err != nil {
		return err
	}
	if fresh {
		if err := demoRerun(ctx, judges, project.Name); err != nil {
			return err
		}
	}
	i := importer{state: s, db: db, project: project.Name, harness: h}
	if err := i.demo(ctx); err != nil {
		return err
	}
	if _, err := drain(ctx, judges, project.Name, demoConcurrency); err != nil {
		return err
	}
	users, err := demoPeople(ctx, s, db)
	if err != nil {
		return err
	}
	service := service{
		state: s, db: db, judges: judges, project: project.Name, addr: c.Addr, demo: true, concurrency: demoConcurrency,
	}
	return service.run(ctx, func(ctx context.Context, address string, site *web.Server) error {
		return c.welcome(ctx, s, db, address, site, users, folder)
	})
}

// demoConcurrency needs no setting: the embedded engines only compute.
const demoConcurrency = 8

// demo imports the embedded sets, each as a run of its own.
func (i *importer) demo(ctx context.Context) error {
	for _, set := range demo.Sets() {
		i.run = set.Name
		if err := i.set(ctx, set, 0); err != nil {
			return err
		}
	}
	return nil
}

// demoPeople finds the demo's users, or makes them.
func demoPeople(ctx context.Context, s *state, db *store.Store) ([]store.User, error) {
	var users []store.User
	for _, person := range demoUsers {
		u, err := db.UserByEmail(ctx, person.Email)
		if errors.Is(err, store.ErrNotFound) {
			u, err = db.CreateUser(ctx, s.operator(), person)
		}
		if err != nil {
			return nil, err
		}
		users = append(users, u)
	}
	return users, nil
}

// welcome prints where to go and what to try.
func (c demoCmd) welcome(ctx context.Context, s *state, db *store.Store, address string, site *web.Server, users []store.User, folder string) error {
	counts, err := db.QueueCounts(ctx, s.operator(), store.DefaultProject)
	if err != nil {
		return err
	}
	s.say("real traces with human labels are loaded and judged; %s for a person (data in %s)",
		plural(counts.Total, "evaluation waits", "evaluations wait"), folder)
	w := tabwriter.NewWriter(s.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "Countersign demo at %s. Open one address to sign in:\n\n", address)
	for _, u := range users {
		link, err := site.DemoLink(u.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "  %s\t%s\n", u.Role, link)
	}
	fmt.Fprint(w, `
Try first:
  1. As the reviewer: the next item (keys g n). Answer before you see what the judge said.
  2. As the lead: Calibration, where GPT-4 meets two annotators and their panel on 991 answers.
  3. As the auditor: Audit, where your decision is the last link of the chain.

Ctrl-C stops; the same command goes on where it was.
`)
	return w.Flush()
}

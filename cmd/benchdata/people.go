package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// People of the project.
const (
	reviewers = 20
	password  = "a password for benchmarks"
	auditor   = "auditor@example.org"
	lead      = "lead@example.org"
)

// people makes who is not there yet, and gives the reviewers.
func (b *build) people(ctx context.Context) ([]store.Actor, error) {
	var actors []store.Actor
	add := func(email string, role store.Role) error {
		u, err := b.db.UserByEmail(ctx, email)
		if errors.Is(err, store.ErrNotFound) {
			u, err = b.db.CreateUser(ctx, operator, store.NewUser{Email: email, Role: role, Password: password})
		}
		if role == store.Reviewer {
			actors = append(actors, u.Actor())
		}
		return err
	}
	for i := range reviewers {
		if err := add(fmt.Sprintf("reviewer-%02d@example.org", i+1), store.Reviewer); err != nil {
			return nil, err
		}
	}
	return actors, errors.Join(add(auditor, store.Auditor), add(lead, store.Lead))
}

// decide lets the reviewers decide until there are so many decisions.
func (b *build) decide(ctx context.Context, actors []store.Actor, decisions int) error {
	made := 0
	err := b.db.EachDecision(ctx, operator, store.EvaluationFilter{}, func(store.Decision) error { made++; return nil })
	if err != nil || made >= decisions {
		return err
	}
	p := b.begin("decisions made", decisions-made)
	var next atomic.Int64
	next.Store(int64(made))
	group, ctx := errgroup.WithContext(ctx)
	const together = 4
	for i := range together {
		group.Go(func() error {
			for {
				n := next.Add(1)
				if n > int64(decisions) {
					return nil
				}
				// A person is asked by one goroutine only.
				actor := actors[(i+together*int(n/together))%len(actors)/together*together+i]
				if err := b.decideOne(ctx, actor, b.make.random(kindPerson, uint64(n))); err != nil {
					return err
				}
				p.add(1)
			}
		})
	}
	err = group.Wait()
	p.end()
	return err
}

// decideOne takes an item and decides it: mostly what is next, else something
// that the person looked for.
func (b *build) decideOne(ctx context.Context, a store.Actor, r *rand.Rand) error {
	var f store.ClaimFilter
	if r.IntN(2) == 0 {
		f.Judge = defaultJudges()[r.IntN(judgesOfTrace)]
		f.Domain = domains[r.IntN(len(domains))]
	}
	item, err := b.db.ClaimNext(ctx, a, store.DefaultProject, f)
	if errors.Is(err, store.ErrNotFound) { // nothing more of that kind
		item, err = b.db.ClaimNext(ctx, a, store.DefaultProject, store.ClaimFilter{})
	}
	if err != nil {
		return err
	}
	comment := b.make.said.critiques.sentence(r)
	if r.IntN(50) == 0 {
		_, err := b.db.Decide(ctx, a, item.ReviewID, store.DecisionInput{Action: store.Escalate, Comment: comment})
		return err
	}
	in := store.DecisionInput{Action: store.Confirm, Comment: comment, Confidence: []string{"low", "medium", "high"}[r.IntN(3)]}
	own := item.Labels[r.IntN(len(item.Labels))]
	reasons := store.ReasonCodesFor(judge.DefaultPolicy(), "", "")
	reason := reasons[r.IntN(len(reasons))].Code
	if item.Sealed {
		if _, err := b.db.CommitFirstAnswer(ctx, a, item.ReviewID, store.Answer{Verdict: own.Verdict, Label: own.Name}); err != nil {
			return err
		}
		in.Action = store.Adopt
		if r.IntN(2) == 0 {
			in.Action, in.ReasonCode = store.Keep, reason
		}
	} else if r.IntN(4) == 0 {
		in.Action, in.Verdict, in.Label, in.ReasonCode = store.Override, own.Verdict, own.Name, reason
	}
	_, err = b.db.Decide(ctx, a, item.ReviewID, in)
	return err
}

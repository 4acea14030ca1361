package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// trustEvery is how often a server looks whether the trust of a judge is due, and
// how often one process works that of one judge out while it judges.
const trustEvery = time.Second

// keptTrust answers the harness how far a version of a judge, by one model, is
// trusted in a project.
type keptTrust struct {
	db      *store.Store
	log     *slog.Logger
	project string

	mu     sync.Mutex
	looked map[string]time.Time // by judge
}

// of is asked for every evaluation. What can't be found out may be suspended: a
// person decides then.
func (k *keptTrust) of(ctx context.Context, e *judge.Evaluation) (judge.TrustState, string) {
	model := e.Model
	if e.Samples > 1 {
		model = fmt.Sprintf("%s ×%d", e.Model, e.Samples) // a vote is another rater than one answer
	}
	j, known, err := k.read(ctx, e.Judge, model, e.PromptVersion)
	switch {
	case err != nil:
		k.log.Error("how far a judge is trusted can't be read; people decide meanwhile", "project", k.project, "judge", e.Judge, "error", err)
		return judge.Suspended, "how far this judge is trusted could not be read"
	case !known:
		return judge.Advisory, fmt.Sprintf("nobody has labelled what this version says by %s yet, and the policy accepts only judges that are trusted", model)
	case j.State == judge.Suspended:
		return j.State, "this version by " + model + " is " + j.Why()
	case j.State != judge.Trusted:
		return j.State, fmt.Sprintf("this version is not trusted by %s: %s", model, j.Why())
	}
	return j.State, ""
}

func (k *keptTrust) read(ctx context.Context, judgeName, model, version string) (store.JudgeTrust, bool, error) {
	j, known, due, err := k.db.KeptTrust(ctx, k.project, judgeName, model, version)
	if err != nil || !due || !k.mayLook(judgeName) {
		return j, known, err
	}
	if _, err := k.db.RefreshTrust(ctx, k.project, judgeName); err != nil {
		return j, known, err
	}
	j, known, _, err = k.db.KeptTrust(ctx, k.project, judgeName, model, version)
	return j, known, err
}

// mayLook bounds how often a judge is looked at anew: labels can come by the
// thousand while it judges.
func (k *keptTrust) mayLook(judgeName string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.looked[judgeName]) < trustEvery {
		return false
	}
	if k.looked == nil {
		k.looked = map[string]time.Time{}
	}
	k.looked[judgeName] = time.Now()
	return true
}

// keepTrust brings the trust of judges up to date as labels come, until ctx ends.
// What goes wrong is logged once and tried again, less and less often.
func keepTrust(ctx context.Context, s *state, db *store.Store) error {
	wait := trustEvery
	for {
		_, err := db.RefreshDueTrust(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			if wait == trustEvery {
				s.log.LogAttrs(ctx, slog.LevelError, "bring the trust of judges up to date", slog.Any("error", err))
			}
			wait = min(2*wait, time.Minute)
		default:
			wait = trustEvery
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/store"
)

func TestPoliciesAreKept(t *testing.T) {
	d := openDesk(t)
	p, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	first := p.Policy
	p.Policy.RandomAudit = 0.2
	if p, err = d.SetPolicy(d.ctx, d.lea, "default", p.Policy, " more audits "); err != nil {
		t.Fatal(err)
	}
	// The same again is no version and no event.
	events := d.text(`SELECT count(*) FROM audit_events`)
	if same, err := d.SetPolicy(d.ctx, d.lea, "default", p.Policy, "again"); err != nil || same.Policy.Version != 2 {
		t.Errorf("the same policy again: version %d, error %v, want version 2", same.Policy.Version, err)
	}
	if now := d.text(`SELECT count(*) FROM audit_events`); now != events {
		t.Errorf("%s events on record after nothing was changed, before %s", now, events)
	}
	if _, err := d.SetPolicy(d.ctx, d.lea, "default", p.Policy, strings.Repeat("x", 4001)); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a long comment: %v", err)
	}
	all, err := d.Policies(d.ctx, d.auditor, "default")
	if err != nil || len(all) != 2 {
		t.Fatalf("%d policies, error %v, want 2", len(all), err)
	}
	if diff := cmp.Diff(p.Policy, all[0].Policy); diff != "" || all[0].Version != 2 || all[0].Comment != "more audits" || all[0].Author != d.lea.Name {
		t.Errorf("the newest is %+v, differs %s", all[0], diff)
	}
	if diff := cmp.Diff(first, all[1].Policy); diff != "" || all[1].Version != 1 {
		t.Errorf("the first is %+v, differs %s", all[1], diff)
	}
	at, err := d.PolicyAt(d.ctx, d.lea, "default", 1)
	if diff := cmp.Diff(all[1], at); diff != "" || err != nil {
		t.Errorf("version 1: %s, error %v", diff, err)
	}
	if _, err := d.PolicyAt(d.ctx, d.lea, "default", 9); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("version 9: %v", err)
	}
	if _, err := d.Policies(d.ctx, d.ann, "default"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	for _, query := range []string{`UPDATE policies SET author = 'x'`, `DELETE FROM policies`} {
		if _, err := d.raw.Exec(query); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v, want a refusal", query, err)
		}
	}
}

// A database that is older than the list has its present policy added.
func TestPoliciesOfAnOlderDatabase(t *testing.T) {
	d := openDesk(t)
	for _, query := range []string{
		`INSERT INTO projects (id, name, policy, created_at) SELECT 'old', 'old', policy, created_at FROM projects`,
	} {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	again, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	all, err := again.Policies(d.ctx, d.auditor, "old")
	if err != nil || len(all) != 1 || all[0].Version != 1 || all[0].Author != "" {
		t.Errorf("policies %+v, error %v", all, err)
	}
}

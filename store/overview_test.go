package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

func TestOverview(t *testing.T) {
	d := openDesk(t) // a Monday
	reviews := d.put(judged{id: "a", run: "nightly"}, judged{id: "b"}, judged{id: "c"}, judged{id: "d", domain: "medical"})
	d.clock.add(-time.Hour * 10) // Sunday, 23:00
	d.claim(d.ann, reviews["a"])
	d.first(d.ann, reviews["a"], judge.Fail)
	d.decide(d.ann, reviews["a"], store.DecisionInput{Action: store.Keep})
	d.clock.add(time.Hour * 10)
	for trace, seconds := range map[string]time.Duration{"b": 20, "c": 40} {
		d.claim(d.ann, reviews[trace])
		d.clock.add(seconds * time.Second)
		d.first(d.ann, reviews[trace], judge.Fail)
		d.decide(d.ann, reviews[trace], store.DecisionInput{Action: store.Keep})
	}
	got, err := d.Overview(d.ctx, d.ann, "default")
	if err != nil {
		t.Fatal(err)
	}
	findTelling(t, "Overview", got)
	if got.Next == nil || got.Next.TraceID != "d" || !got.Next.Sealed {
		t.Errorf("next is %+v, want d, sealed", got.Next)
	}
	if got.Mine.Decisions != 2 || got.Mine.MedianSeconds != 30 {
		t.Errorf("this week %d decisions of %v s, want 2 of 30 s", got.Mine.Decisions, got.Mine.MedianSeconds)
	}
	want := []store.StatusCount{{Status: judge.Queued}, {Status: judge.Judging}, {Status: judge.Refused},
		{Status: judge.InReview, N: 1}, {Status: judge.Accepted}, {Status: judge.Final, N: 3}}
	if diff := cmp.Diff(want, got.StatusCounts); diff != "" {
		t.Errorf("status counts (-want +got):\n%s", diff)
	}
	if len(got.Runs) != 1 || got.Runs[0].Name != "nightly" || got.Runs[0].Done() != 1 {
		t.Errorf("runs %+v", got.Runs)
	}
	if got, err = d.Overview(d.ctx, d.auditor, "default"); err != nil || got.Next != nil || got.Queue.Total != 1 {
		t.Errorf("the auditor's overview: next %v, queue %+v, %v", got.Next, got.Queue, err)
	}
}

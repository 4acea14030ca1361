package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// sizeFrom is a size of a test: the usual one, or what a variable of the
// environment says.
func sizeFrom(t *testing.T, name string, usual int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q: give a number above zero", name, text)
	}
	return n
}

// killedConcurrency is how many calls a server has in flight at most.
const killedConcurrency = 4

// TestKilledServers kills one of two servers again and again while people import
// and decide and a model judges: nothing that was acknowledged is lost, no call
// whose reply was kept is made again, each item is decided once, and the chain
// holds. COUNTERSIGN_TEST_KILLS=50 is what the product promises.
func TestKilledServers(t *testing.T) {
	kills := sizeFrom(t, "COUNTERSIGN_TEST_KILLS", 4)
	seed := uint64(sizeFrom(t, "COUNTERSIGN_TEST_SEED", int(time.Now().UnixNano()%1_000_000)+1))
	t.Logf("COUNTERSIGN_TEST_SEED=%d", seed)
	h := newHome(t)
	model := newCountedModel(t)
	importer, reviewers := hire(t, h)
	behind := storetest.Raw(t, h.address)
	f := &fleet{t: t, home: h, model: model, crew: &crew{t: t, decided: map[string]string{}}, dice: rand.New(rand.NewPCG(seed, 9))}
	for i := range f.servers {
		f.start(i)
		f.ready(i)
	}
	stopImport, stopDecide := make(chan struct{}), make(chan struct{})
	var imports, decisions sync.WaitGroup
	imports.Go(func() { f.crew.importCases(importer, stopImport) })
	for _, token := range reviewers {
		decisions.Go(func() { f.crew.decideItems(token, stopDecide) })
	}
	finished := map[string]int{} // cases with a kept reply: how often the model had been asked
	for range kills {
		f.killOne()
		f.noteFinished(behind, finished)
	}
	close(stopImport)
	imports.Wait()
	f.drain(behind)
	close(stopDecide)
	decisions.Wait()
	for _, s := range f.servers {
		s.end()
	}
	imported, decided := f.crew.acknowledged()
	t.Logf("%d kills: %d traces imported, %d decided, %d requests without an answer, %d calls; %d cases were finished at a kill",
		kills, imported, decided, f.crew.lost, total(model.asked()), len(finished))
	f.checkCalls(behind, finished, kills)
	f.checkAcknowledged(behind)
}

// hire makes people with tokens, before any server runs.
func hire(t *testing.T, h home) (importer string, reviewers []string) {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: h.address})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	token := func(name string, role store.Role) string {
		storetest.User(t, db, name, role)
		_, secret, err := db.CreateToken(t.Context(), storetest.Operator, name+"@example.org", "test")
		if err != nil {
			t.Fatal(err)
		}
		return secret
	}
	for i := range 3 {
		reviewers = append(reviewers, token(fmt.Sprint("reviewer", i), store.Reviewer))
	}
	return token("lea", store.Lead), reviewers
}

// fleet is two servers over one database.
type fleet struct {
	t         *testing.T
	home      home
	model     *countedModel
	crew      *crew
	dice      *rand.Rand
	servers   [2]*child
	addresses [2]string
}

func (f *fleet) start(i int) {
	f.t.Helper()
	f.servers[i] = startChild(f.t, f.home.env, nil, "serve", "--addr", "127.0.0.1:0", "--engine", "openai", "--model", "grader",
		"--openai-base-url", f.model.URL, "--concurrency", strconv.Itoa(killedConcurrency))
}

func (f *fleet) ready(i int) {
	f.t.Helper()
	s := f.servers[i]
	select {
	case f.addresses[i] = <-s.address:
		f.crew.up(f.addresses[i])
	case said := <-s.said:
		f.t.Fatalf("a server ended before it listened:\n%s", said)
	case <-time.After(2 * time.Minute):
		f.t.Fatal("a server did not listen within two minutes")
	}
}

// killOne waits until something was imported and decided, and a while more,
// kills a server and starts it again; sometimes it kills it while it starts.
func (f *fleet) killOne() {
	f.t.Helper()
	imported, decided := f.crew.acknowledged()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if i, d := f.crew.acknowledged(); i > imported && d > decided {
			break
		}
		if f.t.Failed() || time.Now().After(deadline) {
			f.t.Fatal("nothing is imported and decided any more")
		}
	}
	time.Sleep(time.Duration(f.dice.IntN(300)) * time.Millisecond)
	i := f.dice.IntN(len(f.servers))
	f.servers[i].kill()
	f.crew.down(f.addresses[i])
	f.start(i)
	if f.dice.IntN(4) == 0 {
		time.Sleep(time.Duration(f.dice.IntN(300)) * time.Millisecond)
		f.servers[i].kill()
		f.start(i)
	}
	f.ready(i)
}

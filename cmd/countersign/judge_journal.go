package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
)

const (
	// journalRoom is how large a journal grows before what is not needed any more
	// is thrown out of it.
	journalRoom = 64 << 20
	// journalSync is how often what is new in a journal is made to outlast a power
	// cut. It outlasts the end of this program at once.
	journalSync = 200 * time.Millisecond
)

// journal keeps the replies of models beside an output file, from when they came
// until their evaluation is written: no call is paid for twice, however the run
// ended. It is a judge.ReplyLedger.
//
// Its first line holds the key of the fences, since the same call is only found
// again when its prompt is the same; so nobody else may read it. Its methods may
// be called on nil, where nothing is kept.
type journal struct {
	path   string
	key    []byte // of the fences
	ownKey bool   // not the installation's
	stop   chan struct{}
	over   sync.WaitGroup

	mu    sync.Mutex
	file  *os.File
	size  int64
	live  int64 // bytes of what is in kept
	kept  map[string]map[string]span
	cost  judge.NanoUSD // of all replies that were ever kept
	dirty bool
	fault error // of making it outlast a power cut
}

var _ judge.ReplyLedger = (*journal)(nil)

// span is where a line stands, with its end.
type span struct{ at, size int64 }

type journalHead struct {
	FenceKey string        `json:"fence_key,omitempty"`        // hex; empty: the installation's
	Dropped  judge.NanoUSD `json:"dropped_nano_usd,omitempty"` // what the replies cost that were thrown out
}

type journalLine struct {
	Evaluation string          `json:"evaluation"`
	Call       string          `json:"call"`
	Kept       judge.KeptReply `json:"kept"`
}

// openJournal opens or begins one. key is the installation's key of fences, nil
// where it has none: the journal then has one of its own.
func openJournal(path string, key []byte) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, usageError{err}
	}
	j := &journal{path: path, file: f, key: key, kept: map[string]map[string]span{}, stop: make(chan struct{})}
	if err := j.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w; remove it to start anew, and what is in it is paid for again", path, err), f.Close())
	}
	j.over.Go(j.outlast)
	return j, nil
}

// read takes in what is there, or begins the journal.
func (j *journal) read() error {
	var err error
	if j.size, err = cutUnended(j.file); err != nil {
		return err
	}
	if j.size == 0 {
		return j.begin()
	}
	if _, err := j.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	at := int64(0)
	err = eachLine(j.file, func(line []byte) error {
		defer func() { at += int64(len(line)) }()
		if at == 0 {
			return j.readHead(line)
		}
		var l journalLine
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		j.cost += judge.Nano(l.Kept.Reply.CostUSD)
		j.add(l.Evaluation, l.Call, span{at, int64(len(line))})
		return nil
	})
	return err
}

func (j *journal) readHead(line []byte) error {
	var head journalHead
	if err := json.Unmarshal(line, &head); err != nil {
		return err
	}
	j.cost = head.Dropped
	if head.FenceKey == "" {
		if j.key == nil {
			return errors.New("it was written with COUNTERSIGN_SESSION_KEY, which is not set now")
		}
		return nil
	}
	key, err := hex.DecodeString(head.FenceKey)
	if err == nil && len(key) == 0 {
		err = errors.New("the key of its fences is empty")
	}
	j.key, j.ownKey = key, true
	return err
}

func (j *journal) begin() error {
	if j.key == nil {
		j.key, j.ownKey = randomKey(), true
	}
	line, err := j.head(0)
	if err != nil {
		return err
	}
	n, err := j.file.Write(line)
	j.size, j.dirty = int64(n), true
	return err
}

func (j *journal) head(dropped judge.NanoUSD) ([]byte, error) {
	head := journalHead{Dropped: dropped}
	if j.ownKey {
		head.FenceKey = hex.EncodeToString(j.key)
	}
	return jsonLine(head)
}

func (j *journal) add(evaluation, call string, at span) {
	calls := j.kept[evaluation]
	if calls == nil {
		calls = map[string]span{}
		j.kept[evaluation] = calls
	}
	j.live += at.size - calls[call].size
	calls[call] = at
}

// KeptReply is part of judge.ReplyLedger.
func (j *journal) KeptReply(_ context.Context, evaluation, call string) (r judge.KeptReply, ok bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at, ok := j.kept[evaluation][call]
	if !ok {
		return r, false, nil
	}
	line := make([]byte, at.size)
	if _, err := j.file.ReadAt(line, at.at); err != nil {
		return r, false, fmt.Errorf("read %s: %w", j.path, err)
	}
	var l journalLine
	if err := json.Unmarshal(line, &l); err != nil {
		return r, false, fmt.Errorf("read %s: %w", j.path, err)
	}
	return l.Kept, true, nil
}

// KeepReply is part of judge.ReplyLedger.
func (j *journal) KeepReply(_ context.Context, evaluation, call string, r judge.KeptReply) error {
	line, err := jsonLine(journalLine{evaluation, call, r})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.fault != nil {
		return j.fault
	}
	n, err := j.file.WriteAt(line, j.size)
	if err != nil {
		// A piece of a line must not stand before the next one.
		return errors.Join(fmt.Errorf("write %s: %w", j.path, err), j.file.Truncate(j.size))
	}
	j.add(evaluation, call, span{j.size, int64(n)})
	j.size += int64(n)
	j.cost += judge.Nano(r.Reply.CostUSD)
	j.dirty = true
	return nil
}

// done drops the replies of evaluations that are written.
func (j *journal) done(evaluations []string) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range evaluations {
		for _, at := range j.kept[e] {
			j.live -= at.size
		}
		delete(j.kept, e)
	}
	if j.size < journalRoom || j.size < 2*j.live {
		return nil
	}
	if err := j.shrink(); err != nil {
		return fmt.Errorf("shorten %s: %w", j.path, err)
	}
	return nil
}

// shrink writes the journal anew with what is still needed.
func (j *journal) shrink() (err error) {
	anew, err := os.OpenFile(j.path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	size, kept, err := j.copyKept(anew)
	if err == nil {
		err = anew.Sync()
	}
	if err == nil {
		err = os.Rename(anew.Name(), j.path)
	}
	if err != nil {
		return errors.Join(err, anew.Close(), removeIfThere(anew.Name()))
	}
	old := j.file
	j.file, j.size, j.kept = anew, size, kept
	return old.Close()
}

// copyKept writes head and kept replies to another file, and says where they
// stand in it.
func (j *journal) copyKept(anew io.Writer) (size int64, kept map[string]map[string]span, err error) {
	w := bufio.NewWriter(anew)
	dropped := j.cost
	var lines []byte
	kept = map[string]map[string]span{}
	for evaluation, calls := range j.kept {
		kept[evaluation] = map[string]span{}
		for call, at := range calls {
			line := make([]byte, at.size)
			if _, err := j.file.ReadAt(line, at.at); err != nil {
				return 0, nil, err
			}
			var l journalLine
			if err := json.Unmarshal(line, &l); err != nil {
				return 0, nil, err
			}
			dropped -= judge.Nano(l.Kept.Reply.CostUSD)
			kept[evaluation][call] = span{int64(len(lines)), at.size} // from the end of the head
			lines = append(lines, line...)
		}
	}
	head, err := j.head(dropped)
	if err != nil {
		return 0, nil, err
	}
	for _, calls := range kept {
		for call, at := range calls {
			calls[call] = span{at.at + int64(len(head)), at.size}
		}
	}
	for _, piece := range [][]byte{head, lines} {
		if _, err := w.Write(piece); err != nil {
			return 0, nil, err
		}
	}
	return int64(len(head) + len(lines)), kept, w.Flush()
}

// paid is what all replies cost that were ever kept here.
func (j *journal) paid() judge.NanoUSD {
	if j == nil {
		return 0
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.cost
}

// outlast makes what is new outlast a power cut, again and again.
func (j *journal) outlast() {
	tick := time.NewTicker(journalSync)
	defer tick.Stop()
	for {
		select {
		case <-j.stop:
			return
		case <-tick.C:
		}
		j.mu.Lock()
		file, dirty := j.file, j.dirty
		j.dirty = false
		j.mu.Unlock()
		if !dirty {
			continue
		}
		// A journal that was shortened meanwhile has been made to last already.
		if err := file.Sync(); err != nil && !errors.Is(err, os.ErrClosed) {
			j.mu.Lock()
			j.fault = fmt.Errorf("write %s: %w", j.path, err)
			j.mu.Unlock()
		}
	}
}

// close leaves the journal for the next run.
func (j *journal) close() error {
	if j == nil {
		return nil
	}
	close(j.stop)
	j.over.Wait()
	return errors.Join(j.fault, j.file.Sync(), j.file.Close())
}

// remove ends the journal of a run that is whole.
func (j *journal) remove() error {
	if j == nil {
		return nil
	}
	return errors.Join(j.close(), os.Remove(j.path))
}

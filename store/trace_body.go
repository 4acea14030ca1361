package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// sharedFrom is the length in bytes from which the text of a source is stored
// by itself: many traces cite the same one. Shorter ones pack better in place.
const sharedFrom = 512

// traceBody is a trace as it is stored: its content as JSON, without the texts
// of long sources, and these.
type traceBody struct {
	judge.Trace
	// SourceHashes are the SHA-256 of the texts left out, in the order of the
	// sources; empty for a source whose text is in place.
	SourceHashes []string `json:"source_hashes,omitempty"`

	json    string
	sources []string // texts left out, in order
}

// newTraceBody takes a trace apart. What hangs on it (run, recorded judgments,
// labels) is no content of it.
func newTraceBody(t judge.Trace) (b traceBody, err error) {
	b.Trace = t
	b.Run, b.Judgments, b.Labels = "", nil, nil
	for i, s := range t.Sources {
		if len(s.Text) < sharedFrom {
			continue
		}
		if b.SourceHashes == nil {
			b.SourceHashes = make([]string, len(t.Sources))
			b.Sources = append([]judge.Source(nil), t.Sources...)
		}
		b.SourceHashes[i], b.Sources[i].Text = judge.HashText(s.Text), ""
		b.sources = append(b.sources, s.Text)
	}
	body, err := json.Marshal(b)
	b.json = string(body)
	return b, err
}

// base is what prompts and reports of the trace are packed against.
func (b traceBody) base() [][]byte {
	base := [][]byte{[]byte(b.json)}
	for _, s := range b.sources {
		base = append(base, []byte(s))
	}
	return base
}

// texts are the body, first, and the sources, packed.
func (b traceBody) texts(dict *pack.Dictionary) []text {
	packed := []text{newText(b.json, dict)}
	for _, s := range b.sources {
		packed = append(packed, newText(s, dict))
	}
	return packed
}

// whole is the trace with every source in place.
func (b traceBody) whole(sources map[string]string) (judge.Trace, error) {
	t := b.Trace
	for i, hash := range b.SourceHashes {
		if hash == "" {
			continue
		}
		source, ok := sources[hash]
		if !ok || i >= len(t.Sources) {
			return t, fmt.Errorf("source %d of trace %s is gone: %w", i+1, t.ID, ErrNotFound)
		}
		t.Sources[i].Text = source
	}
	return t, nil
}

// traceBodies reads traces by their rows' ids; unknown ones are absent.
func (r *texts) traceBodies(ctx context.Context, ids []string) (map[string]traceBody, error) {
	type place struct{ id, hash string }
	var places []place
	if err := inBatches(distinct(ids), func(batch []string) error {
		found, err := collect(ctx, r.q, func(rows *sql.Rows, p *place) error { return rows.Scan(&p.id, (*digest)(&p.hash)) },
			`SELECT tr.id, tr.body_hash FROM traces tr WHERE tr.id IN (`+placeholders(len(batch))+`)`, anys(batch)...)
		places = append(places, found...)
		return err
	}); err != nil {
		return nil, err
	}
	hashes := make([]string, len(places))
	for i, p := range places {
		hashes[i] = p.hash
	}
	byHash, err := r.bodies(ctx, hashes)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]traceBody, len(places))
	for _, p := range places {
		byID[p.id] = byHash[p.hash]
	}
	return byID, nil
}

// bodies reads traces by the hashes of their bodies. What was read not long ago
// is remembered: a person reads a trace, answers and decides, and each needs it
// again, as do the reports that are packed against it.
func (r *texts) bodies(ctx context.Context, hashes []string) (map[string]traceBody, error) {
	bodies := make(map[string]traceBody, len(hashes))
	read := distinct(hashes)
	if !r.anew {
		read = slices.DeleteFunc(read, func(hash string) bool {
			b, known := r.q.packs().recent.get(hash)
			if known {
				bodies[hash] = b
			}
			return known
		})
	}
	fresh, err := r.readBodies(ctx, read)
	for hash, b := range fresh {
		bodies[hash] = b
		r.q.packs().recent.add(hash, b, b.size())
	}
	return bodies, err
}

// size is how many bytes of text the trace has.
func (b traceBody) size() int {
	n := len(b.json)
	for _, s := range b.sources {
		n += len(s)
	}
	return n
}

func (r *texts) readBodies(ctx context.Context, hashes []string) (map[string]traceBody, error) {
	if len(hashes) == 0 {
		return nil, nil
	}
	plain, err := r.get(ctx, hashes)
	if err != nil {
		return nil, err
	}
	bodies := make(map[string]traceBody, len(plain))
	var wanted []string
	for _, hash := range hashes {
		body, ok := plain[hash]
		if !ok {
			return nil, fmt.Errorf("the text %s of a trace is gone: %w", hash, ErrNotFound)
		}
		b := traceBody{json: body}
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			return nil, fmt.Errorf("the stored trace %s: %w", hash, err)
		}
		wanted = append(wanted, b.SourceHashes...)
		bodies[hash] = b
	}
	sources, err := r.get(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for hash, b := range bodies {
		for _, h := range b.SourceHashes {
			if h != "" {
				b.sources = append(b.sources, sources[h])
			}
		}
		if b.Trace, err = b.whole(sources); err != nil {
			return nil, err
		}
		bodies[hash] = b
	}
	return bodies, nil
}

// traceByBody reads one trace by the hash of its body.
func traceByBody(ctx context.Context, q querier, hash string) (judge.Trace, error) {
	bodies, err := textsFrom(q).bodies(ctx, []string{hash})
	return bodies[hash].Trace, err
}

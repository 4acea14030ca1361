package store

import (
	"context"
	"fmt"
	"sync"

	"github.com/countersign/countersign/store/pack"
)

// family is a kind of texts that repeat each other: what one has, others of it
// likely have too. Each gets a dictionary of its own, made of the first ones.
type family struct {
	kind string // trace, prompt or detail
	name string // of traces: the project; of the others: the judge's prompt version
}

// Sizes of dictionaries in bytes, by kind. They were measured: see the package
// pack and docs/performance.md.
var dictionarySizes = map[string]int{"trace": 64 << 10, "prompt": 12 << 10, "detail": 16 << 10}

// samplesFor is from how many texts a dictionary is made.
const samplesFor = 24

// packs are what is needed to read the texts of one database: its dictionaries,
// as far as they were asked for, and the traces that were read last.
type packs struct {
	mu       sync.Mutex
	byID     map[uint32]*pack.Dictionary
	families map[family]*sampled
	recent   remembered[string, traceBody] // by hash: what a hash names never changes
	reports  remembered[baseRef, detail]
}

// sampled is what this process knows of a family.
type sampled struct {
	asked   bool // the database was asked for its dictionary
	dict    *pack.Dictionary
	samples [][]byte
}

func newPacks() *packs {
	return &packs{
		byID: map[uint32]*pack.Dictionary{}, families: map[family]*sampled{},
		recent: newRemembered[string, traceBody](), reports: newRemembered[baseRef, detail](),
	}
}

// byNumber reads a dictionary that a text was packed with.
func (p *packs) byNumber(ctx context.Context, q querier, id uint32) (*pack.Dictionary, error) {
	p.mu.Lock()
	known := p.byID[id]
	p.mu.Unlock()
	if known != nil {
		return known, nil
	}
	var content []byte
	if err := q.QueryRowContext(ctx, `SELECT body FROM dictionaries WHERE id = ?`, int64(id)).Scan(&content); err != nil {
		return nil, notFound(err, "the dictionary %d of packed texts", id)
	}
	dict, err := pack.NewDictionary(id, content)
	if err != nil {
		return nil, fmt.Errorf("the dictionary %d of packed texts: %w", id, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byID[id] = dict
	return dict, nil
}

// dictionary gives the dictionary of a family for packing, nil as long as there
// is none. With enough of the samples that it is shown it makes one.
func (s *Store) dictionary(ctx context.Context, f family, samples ...string) (*pack.Dictionary, error) {
	p := s.packed
	p.mu.Lock()
	known, ok := p.families[f]
	if !ok {
		known = &sampled{}
		p.families[f] = known
	}
	dict, asked := known.dict, known.asked
	p.mu.Unlock()
	if dict != nil {
		return dict, nil
	}
	if !asked {
		dict, err := s.readDictionary(ctx, f)
		if err != nil || dict != nil {
			return dict, err
		}
	}
	p.mu.Lock()
	known.asked = true
	for _, sample := range samples {
		if sample != "" && len(known.samples) < samplesFor {
			known.samples = append(known.samples, []byte(sample))
		}
	}
	var learn [][]byte
	if len(known.samples) >= samplesFor {
		learn, known.samples = known.samples, nil
	}
	p.mu.Unlock()
	if learn == nil {
		return nil, nil
	}
	content := pack.Train(learn, dictionarySizes[f.kind])
	if len(content) == 0 {
		return nil, nil
	}
	err := s.writeAlone(ctx, func(t *tx) error {
		// Another process may have made one; then it counts.
		var id int64
		if err := t.scan(ctx, `SELECT coalesce(max(id), 0) + 1 FROM dictionaries`, nil, []any{&id}); err != nil {
			return err
		}
		_, err := t.exec(ctx, `
INSERT INTO dictionaries (id, kind, name, body, created_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (kind, name) DO NOTHING`,
			id, f.kind, f.name, content, t.now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store a dictionary for texts of kind %s: %w", f.kind, err)
	}
	return s.readDictionary(ctx, f)
}

// readDictionary reads a family's dictionary from the database; nil when there
// is none.
func (s *Store) readDictionary(ctx context.Context, f family) (*pack.Dictionary, error) {
	var id int64
	err := s.reader.QueryRowContext(ctx, `SELECT id FROM dictionaries WHERE kind = ? AND name = ?`, f.kind, f.name).Scan(&id)
	if noRow(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	dict, err := s.packed.byNumber(ctx, s.reader, uint32(id))
	if err != nil {
		return nil, err
	}
	s.packed.mu.Lock()
	defer s.packed.mu.Unlock()
	if known := s.packed.families[f]; known != nil {
		known.dict = dict
	}
	return dict, nil
}

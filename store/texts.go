package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/pack"
)

// text is a large text ready to be stored: hashed and packed before the write
// lock is taken, because that costs more than writing it.
type text struct {
	hash   string
	base   baseRef // what it is packed against, if its codec needs that
	packed pack.Packed
}

// newText packs a text. The empty text has an empty hash and is not stored.
func newText(s string, dict *pack.Dictionary) text {
	if s == "" {
		return text{}
	}
	return text{hash: judge.HashText(s), packed: pack.Pack([]byte(s), dict)}
}

// newTextOn packs a text that repeats others: a prompt its trace, a reply the
// report that was read from it.
func newTextOn(s string, dict *pack.Dictionary, ref baseRef, base [][]byte) text {
	if s == "" {
		return text{}
	}
	t := text{hash: judge.HashText(s), packed: pack.Pack([]byte(s), dict, base...)}
	if t.packed.Codec.NeedsBase() {
		t.base = ref
	}
	return t
}

func newTexts() *bulk {
	return newBulk("texts", " ON CONFLICT (hash) DO NOTHING", "hash", "codec", "dictionary", "base", "body")
}

// addText notes a text to be stored once, whoever else stores it too.
func (b *bulk) addText(x text) {
	if x.hash != "" {
		b.add(digest(x.hash), int(x.packed.Codec), int64(x.packed.Dict), string(x.base), x.packed.Body)
	}
}

func scanText(r *sql.Rows, x *text) error {
	var codec int
	var dict int64
	err := r.Scan((*digest)(&x.hash), &codec, &dict, (*string)(&x.base), &x.packed.Body)
	x.packed.Codec, x.packed.Dict = pack.Codec(codec), uint32(dict)
	return err
}

// texts unpacks what it reads. It remembers the bases that it met, so it is for
// one answer only.
type texts struct {
	q     querier
	bases map[baseRef][][]byte
	anew  bool // nothing is remembered from before: the database is what is asked
}

// textsAnew is textsFrom for checking what is stored.
func textsAnew(q querier) *texts { return &texts{q: q, bases: map[baseRef][][]byte{}, anew: true} }

func textsFrom(q querier) *texts { return &texts{q: q, bases: map[baseRef][][]byte{}} }

// get reads many texts by hash, in batches. Hashes that are empty or not stored
// are absent from the answer.
func (r *texts) get(ctx context.Context, hashes []string) (map[string]string, error) {
	plain := make(map[string]string, len(hashes))
	return plain, inBatches(distinct(hashes), func(batch []string) error {
		found, err := collect(ctx, r.q, scanText,
			`SELECT hash, codec, dictionary, base, body FROM texts WHERE hash IN (`+placeholders(len(batch))+`)`, digests(batch)...)
		if err != nil {
			return err
		}
		if err := r.readTraceBases(ctx, found); err != nil {
			return err
		}
		for _, x := range found {
			base, err := r.base(ctx, x.base)
			if err != nil {
				return err
			}
			if plain[x.hash], err = r.unpack(ctx, x.packed, base); err != nil {
				return fmt.Errorf("text %s: %w", x.hash, err)
			}
			if judge.HashText(plain[x.hash]) != x.hash {
				return fmt.Errorf("text %s was changed in the database: it has another hash now", x.hash)
			}
		}
		return nil
	})
}

// unpack gives the plain text.
func (r *texts) unpack(ctx context.Context, p pack.Packed, base [][]byte) (string, error) {
	var dict *pack.Dictionary
	if p.Dict != 0 {
		var err error
		if dict, err = r.q.packs().byNumber(ctx, r.q, p.Dict); err != nil {
			return "", err
		}
	}
	plain, err := pack.Unpack(p, dict, base...)
	return string(plain), err
}

package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/judge"
)

// text is a large text ready to be stored: hashed and packed before the write
// lock is taken, because that costs more than writing it.
type text struct {
	hash, codec string
	body        []byte
}

// Texts below this size in bytes gain nothing from packing.
const packFrom = 256

const codecZstd = "zstd"

var (
	packer   = must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<18)))
	unpacker = must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(0)))
)

// must is for the two codecs, whose options are constants.
func must[T any](v T, err error) T {
	if err != nil {
		panic("store: zstd refuses its own options: " + err.Error())
	}
	return v
}

// newText packs a text. The empty text has an empty hash and is not stored.
func newText(s string) text {
	if s == "" {
		return text{}
	}
	t := text{hash: judge.HashText(s), body: []byte(s)}
	if len(s) >= packFrom {
		if packed := packer.EncodeAll(t.body, make([]byte, 0, len(s)/2)); len(packed) < len(s) {
			t.codec, t.body = codecZstd, packed
		}
	}
	return t
}

// putText stores a text once, whoever else stored it before.
func (t *tx) putText(ctx context.Context, x text) error {
	if x.hash == "" {
		return nil
	}
	_, err := t.exec(ctx, `INSERT INTO texts (hash, codec, body) VALUES (?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
		x.hash, x.codec, x.body)
	return err
}

func (x text) plain() (string, error) {
	switch x.codec {
	case "":
		return string(x.body), nil
	case codecZstd:
		body, err := unpacker.DecodeAll(x.body, nil)
		if err != nil {
			return "", fmt.Errorf("unpack text %s: %w", x.hash, err)
		}
		return string(body), nil
	}
	return "", fmt.Errorf("text %s is packed with %q, which this program does not know: use a newer countersign", x.hash, x.codec)
}

// getText reads a text by its hash. The empty hash gives the empty text.
func getText(ctx context.Context, q querier, hash string) (string, error) {
	if hash == "" {
		return "", nil
	}
	x := text{hash: hash}
	err := q.QueryRowContext(ctx, `SELECT codec, body FROM texts WHERE hash = ?`, hash).Scan(&x.codec, &x.body)
	if err != nil {
		return "", notFound(err, "text %s", hash)
	}
	return x.plain()
}

// getTexts reads many texts by hash, in batches. Hashes that are empty or not
// stored are absent from the answer.
func getTexts(ctx context.Context, q querier, hashes []string) (map[string]string, error) {
	texts := make(map[string]string, len(hashes))
	err := inBatches(distinct(hashes), func(batch []string) error {
		found, err := collect(ctx, q, func(r *sql.Rows, x *text) error { return r.Scan(&x.hash, &x.codec, &x.body) },
			`SELECT hash, codec, body FROM texts WHERE hash IN (`+placeholders(len(batch))+`)`, anys(batch)...)
		if err != nil {
			return err
		}
		for _, x := range found {
			if texts[x.hash], err = x.plain(); err != nil {
				return err
			}
		}
		return nil
	})
	return texts, err
}

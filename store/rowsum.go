package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"math"
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"
)

// rowSum is the content of a table: how many rows, and the sum of their SHA-256
// modulo 2^256, which does not depend on the order that they are read in.
type rowSum struct {
	rows int64
	sum  [4]uint64
}

// summer adds rows. A row is hashed as its values one after another, each with
// its kind and its length, so that no two rows have one encoding.
type summer struct {
	rowSum
	h    hash.Hash
	buf  []byte
	hash [sha256.Size]byte
}

func newSummer() *summer { return &summer{h: sha256.New()} }

// add takes a row whose values are as canonical gives them.
func (s *summer) add(row []any) error {
	s.h.Reset()
	for _, v := range row {
		b := s.buf[:0]
		switch v := v.(type) {
		case nil:
			b = append(b, 'n')
		case string:
			b = append(binary.BigEndian.AppendUint64(append(b, 's'), uint64(len(v))), v...)
		case []byte:
			b = append(binary.BigEndian.AppendUint64(append(b, 'b'), uint64(len(v))), v...)
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v))
		case float64:
			b = binary.BigEndian.AppendUint64(append(b, 'f'), math.Float64bits(v))
		case bool:
			b = append(b, 't')
			if !v {
				b[0] = 'u'
			}
		case time.Time:
			b = binary.BigEndian.AppendUint64(append(b, 'c'), uint64(v.UnixMicro()))
		default:
			return fmt.Errorf("a value of type %T has no encoding", v)
		}
		s.h.Write(b)
		s.buf = b
	}
	one := s.h.Sum(s.hash[:0])
	var carry uint64
	for i := range s.sum {
		s.sum[i], carry = bits.Add64(s.sum[i], binary.LittleEndian.Uint64(one[8*i:]), carry)
	}
	s.rows++
	return nil
}

// errNotStorable says that a text is none that both databases hold.
var errNotStorable = errors.New("a text holds a NUL or is not UTF-8, which PostgreSQL does not store")

// canonical turns a value, as a driver gives it, into the one form of its kind,
// which either database gives back as it is. Times are cut to microseconds, and
// the negative zero becomes zero: SQLite keeps no sign of it.
func canonical(k kind, v any) (any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		switch k {
		case kindText:
			if strings.IndexByte(v, 0) >= 0 || !utf8.ValidString(v) {
				return nil, errNotStorable
			}
			return v, nil
		case kindBytes:
			return []byte(v), nil
		}
	case []byte:
		switch k {
		case kindBytes:
			return v, nil
		case kindText:
			return canonical(k, string(v))
		}
	case int64:
		switch k {
		case kindInteger:
			return v, nil
		case kindFloat:
			return float64(v), nil
		case kindBool:
			return v != 0, nil
		}
	case float64:
		if k == kindFloat {
			return v + 0, nil // -0 + 0 is 0
		}
	case bool:
		if k == kindBool {
			return v, nil
		}
	case time.Time:
		if k == kindTime {
			return toStored(v), nil
		}
	}
	return nil, fmt.Errorf("it holds a %T where a %s belongs", v, k)
}

// eachRow reads a whole table and gives its rows in canonical form, in the
// order of its columns. The row belongs to fn.
func eachRow(ctx context.Context, e engine, q querier, t table, fn func(row []any) error) (err error) {
	defer wrap(&err, "read table %s", t.name)
	within := ctx
	if _, file := e.(sqliteEngine); file {
		within = context.WithoutCancel(ctx) // its driver starts a goroutine a row to watch a context that can end
	}
	rows, err := q.QueryContext(within, `SELECT `+t.names()+` FROM `+quote(t.name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	into := make([]any, len(t.columns))
	for n := 0; rows.Next(); n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		row := make([]any, len(t.columns))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return err
		}
		for i, c := range t.columns {
			if row[i], err = canonical(c.kind, row[i]); err != nil {
				return fmt.Errorf("column %s: %w", c.name, err)
			}
		}
		if err := fn(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// sumOf reads a table again and sums it.
func sumOf(ctx context.Context, e engine, q querier, t table) (rowSum, error) {
	s := newSummer()
	err := eachRow(ctx, e, q, t, s.add)
	return s.rowSum, err
}

// countUpTo counts rows, but not further than needed to see that there are more
// than limit.
func countUpTo(ctx context.Context, q querier, t string, limit int64) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM `+quote(t)+` LIMIT ?) x`, limit+1).Scan(&n)
	return n, err
}

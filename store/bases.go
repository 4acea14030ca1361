package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// baseRef names what a text is packed against: a trace's texts, or the details
// of one round of judging.
type baseRef string

func traceBase(traceID string) baseRef { return baseRef("t" + traceID) }

func detailBase(evaluationID string, round int) baseRef {
	return baseRef("d" + evaluationID + ":" + strconv.Itoa(round))
}

// readTraceBases reads the traces that texts are packed against, all at once.
func (r *texts) readTraceBases(ctx context.Context, packed []text) error {
	var wanted []string
	for _, x := range packed {
		if _, known := r.bases[x.base]; x.base != "" && x.base[0] == 't' && !known {
			wanted = append(wanted, string(x.base[1:]))
		}
	}
	if len(wanted) < 2 {
		return nil
	}
	bodies, err := r.traceBodies(ctx, wanted)
	for id, body := range bodies {
		r.bases[traceBase(id)] = body.base()
	}
	return err
}

// base reads what a reference names. None gives none.
func (r *texts) base(ctx context.Context, ref baseRef) (base [][]byte, err error) {
	if ref == "" {
		return nil, nil
	}
	if base, ok := r.bases[ref]; ok {
		return base, nil
	}
	kind, id := ref[0], string(ref[1:])
	switch kind {
	case 't':
		found, err := r.traceBodies(ctx, []string{id})
		if err != nil {
			return nil, err
		}
		body, ok := found[id]
		if !ok {
			return nil, fmt.Errorf("the trace %s, which texts were packed against, is gone: %w", id, ErrNotFound)
		}
		base = body.base()
	case 'd':
		id, number, _ := strings.Cut(id, ":")
		round, err := strconv.Atoi(number)
		if err != nil {
			return nil, fmt.Errorf("the base %q of a text can't be read: %w", ref, err)
		}
		plain, err := r.detailText(ctx, id, round)
		if err != nil {
			return nil, err
		}
		base = [][]byte{[]byte(plain)}
	default:
		return nil, fmt.Errorf("a text is packed against %q, which this program does not know: use a newer countersign", ref)
	}
	r.bases[ref] = base
	return base, nil
}

package web

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
)

// Bounds of what sheets keeps: a sheet of 500 citations takes some 3 MB.
const (
	mostSheets     = 256
	mostSheetBytes = 32 << 20
)

// sheets remembers what can be ruled on in the items that were read last: a desk, each
// draft of it and its decision ask for the same sheet, and finding 500 citations in
// their sources takes longer than all else on the way. It holds what was computed from
// texts and nothing of a person.
type sheets struct {
	mu   sync.Mutex
	kept *simplelru.LRU[sheetKey, keptSheet]
	size int // of all that is kept, in bytes, about
}

// sheetKey is of everything that a sheet is made of, so that what was made of a report
// is never found without that report: a sealed item has no evaluation.
type sheetKey struct {
	judge, version string // the version is of all that a definition says
	builtin        bool
	trace          string            // hash of its content
	judged         bool              // there is an evaluation that is not sealed
	evaluation     [sha256.Size]byte // hash of what a sheet reads of it
}

type keptSheet struct {
	sheet ruling.Sheet
	size  int
}

func newSheets() *sheets {
	s := &sheets{}
	kept, err := simplelru.NewLRU(mostSheets, func(_ sheetKey, k keptSheet) { s.size -= k.size })
	if err != nil {
		panic("a size below one")
	}
	s.kept = kept
	return s
}

// of is ruling.New for a trace whose content has the hash. Sheets are shared: nobody
// may change one.
func (s *sheets) of(j *judge.Judge, t *judge.Trace, hash string, e *judge.Evaluation) (ruling.Sheet, error) {
	content := contentOf(t)
	read, sum, err := readBySheet(e)
	if err != nil || hash == "" {
		return ruling.New(j, content, e) // a report that is no JSON: New says what is wrong
	}
	key := sheetKey{trace: hash, judged: read != nil, evaluation: sum}
	if j != nil {
		key.judge, key.version, key.builtin = j.Name, j.PromptVersion, j.Builtin
	}
	s.mu.Lock()
	known, ok := s.kept.Get(key)
	s.mu.Unlock()
	if ok {
		return known.sheet, nil
	}
	sheet, err := ruling.New(j, content, read)
	if err != nil {
		return ruling.Sheet{}, err
	}
	s.keep(key, keptSheet{sheet, sizeOf(&sheet, content, read)})
	return sheet, nil
}

func (s *sheets) keep(key sheetKey, k keptSheet) {
	if k.size > mostSheetBytes {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept.Contains(key) { // made twice at once
		return
	}
	s.kept.Add(key, k)
	for s.size += k.size; s.size > mostSheetBytes; {
		s.kept.RemoveOldest()
	}
}

// contentOf is a trace without what hangs on it and differs from person to person.
func contentOf(t *judge.Trace) *judge.Trace {
	content := *t
	content.Judgments, content.Labels, content.Run, content.Judges = nil, nil, "", nil
	return &content
}

// readBySheet is an evaluation with nothing but what a sheet reads of it, and the hash
// of that.
func readBySheet(e *judge.Evaluation) (read *judge.Evaluation, sum [sha256.Size]byte, err error) {
	if e == nil {
		return nil, sum, nil
	}
	read = &judge.Evaluation{
		Verdict: e.Verdict, Label: e.Label, Score: e.Score, Critical: e.Critical, PartLabels: e.PartLabels, Findings: e.Findings,
	}
	for _, c := range e.Calls {
		if c.Purpose == judge.PurposeDecomposition {
			read.Calls = append(read.Calls, judge.Attempt{Purpose: c.Purpose, Errors: c.Errors, Report: c.Report})
		}
	}
	rest, err := json.Marshal(read)
	if err != nil {
		return nil, sum, err
	}
	read.Report = e.Report
	h := sha256.New()
	for _, part := range [][]byte{rest, e.Report} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write(part)
	}
	h.Sum(sum[:0])
	return read, sum, nil
}

// sizeOf estimates what a sheet holds on to, in bytes.
func sizeOf(s *ruling.Sheet, t *judge.Trace, e *judge.Evaluation) int {
	size := len(t.Question) + len(t.Output) + len(t.Reference) + 1<<10
	for _, source := range t.Sources {
		size += len(source.Text)
	}
	if e != nil {
		size += 2 * len(e.Report) // its texts stand in findings and notes once more
	}
	size += 64 * len(s.Steps)
	for i := range s.Units {
		size += 600 + 400*len(s.Units[i].Parts)
	}
	if s.Diff != nil {
		size += 200 * len(s.Diff.Segments)
	}
	return size
}

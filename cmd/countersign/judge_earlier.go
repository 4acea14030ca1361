package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"

	"github.com/countersign/countersign/judge"
)

// partCursor walks along the lines of a part.
type partCursor struct {
	file *os.File
	r    *bufio.Reader
	at   int64 // where the next line begins
}

func openCursor(path string) (*partCursor, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &partCursor{file: f, r: bufio.NewReaderSize(f, 64<<10)}, nil
}

// pass goes past the next lines when they are evaluations with these ids, none of
// which failed, and gives them. Otherwise it gives nil, stays before them and is of
// no further use.
func (c *partCursor) pass(ids []string) ([][]byte, error) {
	at := c.at
	lines := make([][]byte, 0, len(ids))
	for _, id := range ids {
		line, err := c.r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		there, failed, err := lineID(line)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.file.Name(), err)
		}
		if there != id || failed {
			return nil, nil
		}
		at += int64(len(line))
		lines = append(lines, line)
	}
	c.at = at
	return lines, nil
}

var (
	idStart  = []byte(`{"evaluation_id":"`)
	failCode = []byte(`"` + judge.ReasonJudgeFailed + `"`)
)

// lineID is the id of an evaluation's line and whether its judge failed for good.
func lineID(line []byte) (id string, failed bool, err error) {
	rest, ok := bytes.CutPrefix(line, idStart)
	end := bytes.IndexByte(rest, '"')
	if !ok || end < 0 {
		return "", false, fmt.Errorf("a line is no evaluation: %.60q", line)
	}
	id = string(rest[:end])
	if !bytes.Contains(line, failCode) {
		return id, false, nil
	}
	var e judge.Evaluation
	if err := json.Unmarshal(line, &e); err != nil {
		return "", false, err
	}
	return id, judgeFailed(e), nil
}

// earlierLines finds evaluations of earlier runs. It keeps 24 bytes for each.
type earlierLines struct {
	file  *os.File
	index []lineAt // by hash; of one id the newer is later
}

type lineAt struct {
	hash uint64 // of the id
	at   int64
	used bool
}

// openEarlier opens what earlier runs left; nil when there is nothing.
func openEarlier(path string) (*earlierLines, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	e := &earlierLines{file: f}
	at := int64(0)
	err = eachLine(f, func(line []byte) error {
		id, failed, err := lineID(line)
		if err == nil && !failed {
			e.index = append(e.index, lineAt{hash: hashID(id), at: at})
		}
		at += int64(len(line))
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	slices.SortStableFunc(e.index, func(a, b lineAt) int { return cmp.Compare(a.hash, b.hash) })
	return e, nil
}

// moveRest copies what a part has from a place on behind what earlier runs left
// at path, and opens all of it.
func moveRest(part *os.File, from int64, path string) (*earlierLines, error) {
	end, err := part.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	if end == from {
		return openEarlier(path)
	}
	whole, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	if before, openErr := os.Open(path); openErr == nil {
		_, err = io.Copy(whole, before)
		err = errors.Join(err, before.Close())
	} else if !errors.Is(openErr, os.ErrNotExist) {
		err = openErr
	}
	if err == nil {
		_, err = io.Copy(whole, io.NewSectionReader(part, from, end-from))
	}
	if err = errors.Join(err, whole.Sync(), whole.Close()); err == nil {
		err = os.Rename(whole.Name(), path)
	}
	if err != nil {
		return nil, errors.Join(err, removeIfThere(whole.Name()))
	}
	return openEarlier(path)
}

// find gives the line of an evaluation, with its end; nil when there is none.
func (e *earlierLines) find(id string) ([]byte, error) {
	hash := hashID(id)
	end, _ := slices.BinarySearchFunc(e.index, hash, func(l lineAt, h uint64) int {
		if l.hash <= h {
			return -1
		}
		return 1
	})
	for i := end - 1; i >= 0 && e.index[i].hash == hash; i-- {
		line, err := bufio.NewReader(io.NewSectionReader(e.file, e.index[i].at, 1<<62)).ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", e.file.Name(), err)
		}
		if there, _, err := lineID(line); err != nil || there == id {
			for ; i >= 0 && e.index[i].hash == hash; i-- {
				e.index[i].used = true // older ones too
			}
			return line, err
		}
	}
	return nil, nil
}

// unused adds what was not found, each once, to a file, and says how much that is.
func (e *earlierLines) unused(path string) (n int, err error) {
	var rest []int64
	for i, l := range e.index {
		newest := i+1 == len(e.index) || e.index[i+1].hash != l.hash
		if newest && !l.used {
			rest = append(rest, l.at)
		}
	}
	if len(rest) == 0 {
		return 0, nil
	}
	slices.Sort(rest)
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, to.Sync(), to.Close()) }()
	w := bufio.NewWriter(to)
	for _, at := range rest {
		line, err := bufio.NewReader(io.NewSectionReader(e.file, at, 1<<62)).ReadBytes('\n')
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", e.file.Name(), err)
		}
		if _, err := w.Write(line); err != nil {
			return 0, err
		}
	}
	return len(rest), w.Flush()
}

func hashID(id string) uint64 {
	h := fnv.New64a()
	io.WriteString(h, id) // never fails: a hash takes everything
	return h.Sum64()
}

// eachLine calls fn for every line that is ended by a line break, which is part
// of it.
func eachLine(src io.Reader, fn func([]byte) error) error {
	r := bufio.NewReaderSize(src, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = fn(line)
		}
		if err != nil {
			return err
		}
	}
}

// cutUnended cuts off a last line that was not finished, leaves the file at its
// end, and gives its size.
func cutUnended(f *os.File) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	piece := make([]byte, 64<<10)
	for end := size; end > 0; {
		begin := max(0, end-int64(len(piece)))
		if _, err := f.ReadAt(piece[:end-begin], begin); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(piece[:end-begin], '\n'); i >= 0 {
			end = begin + int64(i) + 1
			return end, cutAt(f, size, end)
		}
		end = begin
	}
	return 0, cutAt(f, size, 0)
}

func cutAt(f *os.File, size, end int64) error {
	if size == end {
		return nil
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	_, err := f.Seek(end, io.SeekStart)
	return err
}

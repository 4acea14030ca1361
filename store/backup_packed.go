package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// packedEnd ends the names of packed backups. They are plain zstd streams.
const packedEnd = ".zst"

var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

// packPart packs a file into another part, and unpacks that again to see that
// it gives the same.
func packPart(ctx context.Context, plain *partFile, file string) (_ *partFile, err error) {
	packed, err := newPart(file)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, packed.remove())
		}
	}()
	want := sha256.New()
	if err := packInto(ctx, plain.path, packed.path, want); err != nil {
		return nil, fmt.Errorf("pack the backup: %w", err)
	}
	got := sha256.New()
	if err := unpackFrom(ctx, packed.path, got); err != nil {
		return nil, fmt.Errorf("read the packed backup back: %w", err)
	}
	if !bytes.Equal(want.Sum(nil), got.Sum(nil)) {
		return nil, errors.New("the packed backup does not give back what was packed")
	}
	return packed, nil
}

func packInto(ctx context.Context, from, to string, sum hash.Hash) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z, err := zstd.NewWriter(out)
	if err != nil {
		return err
	}
	_, err = io.Copy(z, io.TeeReader(stoppable{ctx, in}, sum))
	return errors.Join(err, z.Close())
}

// unpackFrom writes what a backup file holds, packed or not.
func unpackFrom(ctx context.Context, from string, to io.Writer) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	start := make([]byte, len(zstdMagic))
	if _, err := io.ReadFull(in, start); err != nil {
		return fmt.Errorf("the file is too short for a backup: %w", err)
	}
	var src io.Reader = io.MultiReader(bytes.NewReader(start), stoppable{ctx, in})
	if bytes.Equal(start, zstdMagic) {
		z, err := zstd.NewReader(src)
		if err != nil {
			return err
		}
		defer z.Close()
		src = z
	}
	_, err = io.Copy(to, src)
	return err
}

// stoppable ends a long reading when its context does.
type stoppable struct {
	ctx context.Context
	io.Reader
}

func (s stoppable) Read(b []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.Reader.Read(b)
}

package pack

import (
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Errors of Unpack, to be told apart with errors.Is.
var (
	// ErrCorrupt: the body is damaged, or the base or the dictionary's content
	// is not the one that the text was packed with.
	ErrCorrupt = errors.New("packed text is damaged, or its base or dictionary is another one")
	// ErrTooLong: the body would unpack to more than MaxPlain bytes.
	ErrTooLong = fmt.Errorf("packed text is longer than %d bytes", MaxPlain)
	// ErrWrongDictionary: the dictionary is absent or another one.
	ErrWrongDictionary = errors.New("packed text needs another dictionary")
	// ErrNoBase: the text was packed with bases and none is given.
	ErrNoBase = errors.New("packed text needs its base")
	// ErrUnknownCodec: a newer program packed the text.
	ErrUnknownCodec = errors.New("packed text has a codec that this program does not know")
)

// Unpack gives back the text that was packed with the same dictionary and bases.
// A dictionary or bases that Pack was given and did not use are ignored. A Plain
// text is returned as Body's own memory; any other is the caller's.
//
// It takes any body without panic, makes no more than MaxPlain bytes of it, and
// gives an error rather than a part of a text. The caller must still compare the
// text with the SHA-256 that it knows: a checksum of 32 bits does not withstand
// intent.
func Unpack(p Packed, dict *Dictionary, base ...[]byte) ([]byte, error) {
	switch p.Codec {
	case Plain:
		return p.Body, nil
	case Zstd:
		d := decoders.Get().(*zstd.Decoder)
		defer decoders.Put(d)
		return decode(d, p)
	case ZstdDict, ZstdBase:
	default:
		return nil, fmt.Errorf("unpack: codec %d: %w; use a newer program", p.Codec, ErrUnknownCodec)
	}
	switch {
	case p.Dict == 0:
		dict = nil
		if p.Codec == ZstdDict {
			return nil, fmt.Errorf("unpack %s: no dictionary is named: %w", p.Codec, ErrCorrupt)
		}
	case dict == nil:
		return nil, fmt.Errorf("unpack %s: %w: number %d, and none was given", p.Codec, ErrWrongDictionary, p.Dict)
	case dict.ID != p.Dict:
		return nil, fmt.Errorf("unpack %s: %w: number %d, not %d", p.Codec, ErrWrongDictionary, p.Dict, dict.ID)
	}
	// Without a checksum a wrong base would give another text.
	var head zstd.Header
	if err := head.Decode(p.Body); err != nil {
		return nil, fmt.Errorf("unpack %s: %w: %w", p.Codec, ErrCorrupt, err)
	} else if !head.HasCheckSum {
		return nil, fmt.Errorf("unpack %s: frame without a checksum: %w", p.Codec, ErrCorrupt)
	}
	if p.Codec == ZstdDict {
		base = nil
	} else if err := checkBase(base); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", p.Codec, err)
	}
	return decodePrimed(p, dict, base)
}

func checkBase(base [][]byte) error {
	size := 0
	for _, b := range base {
		size += len(b)
	}
	switch {
	case size == 0:
		return ErrNoBase
	case size > MaxBase:
		return fmt.Errorf("bases of %d bytes were never used, the limit is %d: %w", size, MaxBase, ErrCorrupt)
	}
	return nil
}

func newDecoder() *zstd.Decoder {
	return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(MaxPlain)))
}

var decoders = sync.Pool{New: func() any { return newDecoder() }}

// primedDecoder keeps the buffer of its history.
type primedDecoder struct {
	decoder *zstd.Decoder
	history []byte
}

var primedDecoders = sync.Pool{New: func() any { return &primedDecoder{decoder: newDecoder()} }}

func decodePrimed(p Packed, dict *Dictionary, base [][]byte) ([]byte, error) {
	d := primedDecoders.Get().(*primedDecoder)
	defer func() {
		if cap(d.history) <= keepBuffer {
			primedDecoders.Put(d)
		}
	}()
	d.history = history(d.history[:0], dict, base)
	if err := d.decoder.ResetWithOptions(nil, zstd.WithDecoderDictRaw(0, d.history)); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", p.Codec, err)
	}
	return decode(d.decoder, p)
}

func decode(d *zstd.Decoder, p Packed) ([]byte, error) {
	if len(p.Body) == 0 {
		return nil, fmt.Errorf("unpack %s: empty body: %w", p.Codec, ErrCorrupt)
	}
	plain, err := d.DecodeAll(p.Body, nil)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		return nil, fmt.Errorf("unpack %s: %w: %w", p.Codec, ErrTooLong, err)
	} else if err != nil {
		return nil, fmt.Errorf("unpack %s: %w: %w", p.Codec, ErrCorrupt, err)
	}
	return plain, nil
}

package pack

import (
	"bytes"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// window of the encoders that are kept, and so how much history and text
	// they take: 256 KiB.
	window = 256 << 10
	// farWindow is for more: 8 MiB, which every zstd reads.
	farWindow = 8 << 20
	// Longer buffers are left to the garbage collector.
	keepBuffer = 1 << 20
)

// options of all encoders. The checksum tells a wrong base from the right one.
func options(windowSize int, more ...zstd.EOption) []zstd.EOption {
	return append(more, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
		zstd.WithWindowSize(windowSize), zstd.WithEncoderCRC(true))
}

// must is for codecs whose options are constants and for writes to memory.
func must[T any](v T, err error) T {
	if err != nil {
		panic("pack: zstd refuses its own options: " + err.Error())
	}
	return v
}

var encoders = sync.Pool{New: func() any { return must(zstd.NewWriter(nil, options(window)...)) }}

// encode without history.
func encode(plain []byte) []byte {
	e := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(e)
	return e.EncodeAll(plain, make([]byte, 0, len(plain)/2))
}

// primed is an encoder with history. Making its index costs more than encoding
// a text, so the index stays for the next text with the same dictionary.
type primed struct {
	encoder *zstd.Encoder
	out     bytes.Buffer
	history []byte      // the encoder's own, made for a text with bases
	dict    *Dictionary // what alone is indexed; nil when history is
}

var primedEncoders = sync.Pool{New: func() any {
	// The encoder is of the kind that takes history from the start: changing
	// the kind would make it anew.
	return &primed{encoder: must(zstd.NewWriter(nil, options(window, raw([]byte{0}))...))}
}}

// raw is history without an id in the frame: the id is kept beside it, and
// programs that take the frame with a raw dictionary expect none.
func raw(history []byte) zstd.EOption { return zstd.WithEncoderDictRaw(0, history) }

func encodeWithDict(plain []byte, dict *Dictionary) []byte {
	if len(plain)+len(dict.content) > window {
		return encodeFar(plain, dict.content)
	}
	p := primedEncoders.Get().(*primed)
	defer primedEncoders.Put(p)
	p.out.Reset()
	if p.dict == dict {
		p.encoder.Reset(&p.out)
	} else {
		p.dict = dict
		must(0, p.encoder.ResetWithOptions(&p.out, raw(dict.content)))
	}
	return p.encode(plain)
}

func encodeWithBase(plain []byte, dict *Dictionary, base [][]byte, baseSize int) []byte {
	if len(plain)+baseSize+MaxDictionary > window {
		return encodeFar(plain, history(make([]byte, 0, baseSize+MaxDictionary), dict, base))
	}
	p := primedEncoders.Get().(*primed)
	defer primedEncoders.Put(p)
	p.out.Reset()
	p.history = history(p.history[:0], dict, base)
	p.dict = nil
	must(0, p.encoder.ResetWithOptions(&p.out, raw(p.history)))
	return p.encode(plain)
}

// encode writes one frame. It holds the text's length, because the text is not
// longer than what the encoder gathers before it starts, or is announced.
func (p *primed) encode(plain []byte) []byte {
	if len(plain) > 64<<10 {
		p.encoder.ResetContentSize(&p.out, int64(len(plain)))
	}
	must(p.encoder.Write(plain))
	must(0, p.encoder.Close())
	return bytes.Clone(p.out.Bytes())
}

// encodeFar is for what the kept encoders are too small for. The fastest level
// indexes 32,768 places, which is too few for a long base; this one has 16 times
// as many.
func encodeFar(plain, history []byte) []byte {
	far := options(farWindow, raw(history), zstd.WithLowerEncoderMem(true))
	e := must(zstd.NewWriter(nil, append(far, zstd.WithEncoderLevel(zstd.SpeedBetterCompression))...))
	return e.EncodeAll(plain, make([]byte, 0, len(plain)/4))
}

// history appends the dictionary's content and the bases to buffer.
func history(buffer []byte, dict *Dictionary, base [][]byte) []byte {
	if dict != nil {
		buffer = append(buffer, dict.content...)
	}
	for _, b := range base {
		buffer = append(buffer, b...)
	}
	return buffer
}

package pack_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/store/pack"
)

func dictionary(tb testing.TB, id uint32, content string) *pack.Dictionary {
	tb.Helper()
	d, err := pack.NewDictionary(id, []byte(content))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// noise is text that zstd can't make smaller.
func noise(n int) []byte { return longNoise()[:n:n] }

// prose is text that zstd makes smaller but not small.
func prose(n int) []byte { return longProse()[:n:n] }

const longest = 16 << 20

var longNoise = sync.OnceValue(func() []byte {
	b := make([]byte, longest)
	rand.NewChaCha8([32]byte{7}).Read(b)
	return b
})

var longProse = sync.OnceValue(func() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, longest+100)
	for len(b) < longest {
		b = append(b, "step "...)
		b = strconv.AppendInt(b, r.Int64N(1000), 10)
		b = append(b, " follows from "...)
		b = strconv.AppendUint(b, r.Uint64N(1<<32), 16)
		b = append(b, ", "...)
	}
	return b
})

func TestRoundTrip(t *testing.T) {
	english := dictionary(t, 9, strings.Repeat("The candidate follows from the premises. ", 20))
	tests := []struct {
		name  string
		plain []byte
		dict  *pack.Dictionary
		base  [][]byte
		want  pack.Codec
	}{
		{"nothing", nil, nil, nil, pack.Plain},
		{"nothing, primed", nil, english, [][]byte{[]byte("base")}, pack.Plain},
		{"short", []byte("yes"), nil, nil, pack.Plain},
		{"below 256 bytes alone", bytes.Repeat([]byte("a"), 255), nil, nil, pack.Plain},
		{"256 bytes alone", bytes.Repeat([]byte("a"), 256), nil, nil, pack.Zstd},
		{"short, known to the dictionary", []byte("The candidate follows from the premises."), english, nil, pack.ZstdDict},
		{"short, with a base", []byte("the quick brown fox jumps over the lazy dog"), nil, [][]byte{[]byte("the quick brown fox jumps over the lazy dog.")}, pack.ZstdBase},
		{"empty bases don't count", []byte("The candidate follows from the premises."), english, [][]byte{{}, nil}, pack.ZstdDict},
		{"base shorter than a hash", prose(3000), nil, [][]byte{[]byte("s")}, pack.ZstdBase},
		{"dictionary of a byte", prose(3000), dictionary(t, 1, "s"), nil, pack.ZstdDict},
		{"noise", noise(5000), english, nil, pack.Plain},
		{"noise, in the base", noise(5000), nil, [][]byte{noise(6000)}, pack.ZstdBase},
		{"unicode", []byte(strings.Repeat("Zwölf Boxkämpfer 🥊 über 日本語\u2028\x00", 30)), english, nil, pack.ZstdDict},
		{"several bases", append(prose(3000), noise(3000)...), english, [][]byte{noise(3000), prose(3000)}, pack.ZstdBase},
		{"text longer than a block", prose(200_000), english, nil, pack.ZstdDict},
		{"text and history longer than the kept window", prose(300_000), english, [][]byte{prose(300_000)}, pack.ZstdBase},
		{"text longer than the window, dictionary only", prose(300_000), english, nil, pack.ZstdDict},
		{"16 MiB", prose(16 << 20), nil, nil, pack.Zstd},
		{"much longer than its base", prose(2 << 20), english, [][]byte{prose(1 << 20)}, pack.ZstdBase},
		{"16 MiB of noise", noise(16 << 20), nil, nil, pack.Plain},
		{"base at its limit", noise(5000), nil, [][]byte{prose(pack.MaxBase - 5000), noise(5000)}, pack.ZstdBase},
		{"base over its limit is not used", prose(5000), english, [][]byte{prose(pack.MaxBase), noise(1)}, pack.ZstdDict},
		{"longer than what is packed", make([]byte, pack.MaxPlain+1), nil, nil, pack.Plain},
		{"the longest that is packed", make([]byte, pack.MaxPlain), nil, nil, pack.Zstd},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := pack.Pack(tt.plain, tt.dict, tt.base...)
			if p.Codec != tt.want {
				t.Errorf("codec %v, want %v", p.Codec, tt.want)
			}
			if len(p.Body) > len(tt.plain) || p.Codec != pack.Plain && len(p.Body) == len(tt.plain) {
				t.Errorf("%d bytes became %d", len(tt.plain), len(p.Body))
			}
			base := tt.base
			if !p.Codec.NeedsBase() {
				base = nil
			}
			got, err := pack.Unpack(p, tt.dict, base...)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, tt.plain) {
				t.Errorf("%d bytes came back as %d others", len(tt.plain), len(got))
			}
		})
	}
}

// A base is worth its reading only when the text then all but vanishes.
func TestBaseIsFound(t *testing.T) {
	for _, size := range []int{2000, 20_000, 100_000, 1 << 20} {
		text := noise(size)
		p := pack.Pack(text, nil, text)
		if len(p.Body) > 60+size/2000 {
			t.Errorf("a text of %d bytes against itself takes %d bytes", size, len(p.Body))
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	text, base := prose(3000), prose(2000)
	d, other := dictionary(t, 5, string(prose(500))), dictionary(t, 6, string(prose(500)))
	alike := dictionary(t, 5, strings.Repeat("other content ", 40))
	alone, known, based := pack.Pack(text, nil), pack.Pack(text, d), pack.Pack(text, d, base)
	harm := func(p pack.Packed, f func([]byte) []byte) pack.Packed {
		p.Body = f(bytes.Clone(p.Body))
		return p
	}
	cut := func(b []byte) []byte { return b[:len(b)-5] }
	flip := func(b []byte) []byte { b[len(b)/2] ^= 4; return b }
	without := must(zstd.NewWriter(nil, zstd.WithEncoderCRC(false), zstd.WithEncoderDictRaw(0, base))).EncodeAll(text, nil)
	bomb := must(zstd.NewWriter(nil)).EncodeAll(make([]byte, pack.MaxPlain+1), nil)
	tests := []struct {
		name   string
		packed pack.Packed
		dict   *pack.Dictionary
		base   [][]byte
		want   error
	}{
		{"no dictionary", known, nil, nil, pack.ErrWrongDictionary},
		{"dictionary of another id", known, other, nil, pack.ErrWrongDictionary},
		{"dictionary of other content", known, alike, nil, pack.ErrCorrupt},
		{"no dictionary, base given", based, nil, [][]byte{base}, pack.ErrWrongDictionary},
		{"no base", based, d, nil, pack.ErrNoBase},
		{"empty base", based, d, [][]byte{{}}, pack.ErrNoBase},
		{"another base", based, d, [][]byte{noise(2000)}, pack.ErrCorrupt},
		{"base with one byte changed", based, d, [][]byte{flip(bytes.Clone(base))}, pack.ErrCorrupt},
		{"base and more", based, d, [][]byte{base, []byte("more")}, pack.ErrCorrupt},
		{"base over the limit", based, d, [][]byte{make([]byte, pack.MaxBase+1)}, pack.ErrCorrupt},
		{"cut", harm(alone, cut), nil, nil, pack.ErrCorrupt},
		{"cut, primed", harm(based, cut), d, [][]byte{base}, pack.ErrCorrupt},
		{"damaged", harm(alone, flip), nil, nil, pack.ErrCorrupt},
		{"damaged, with dictionary", harm(known, flip), d, nil, pack.ErrCorrupt},
		{"damaged, with base", harm(based, flip), d, [][]byte{base}, pack.ErrCorrupt},
		{"empty", pack.Packed{Codec: pack.Zstd}, nil, nil, pack.ErrCorrupt},
		{"no frame", pack.Packed{Codec: pack.ZstdBase, Body: []byte("text")}, nil, [][]byte{base}, pack.ErrCorrupt},
		{"no checksum", pack.Packed{Codec: pack.ZstdBase, Body: without}, nil, [][]byte{base}, pack.ErrCorrupt},
		{"dictionary not named", pack.Packed{Codec: pack.ZstdDict, Body: known.Body}, d, nil, pack.ErrCorrupt},
		{"too long", pack.Packed{Codec: pack.Zstd, Body: bomb}, nil, nil, pack.ErrTooLong},
		{"too long in two frames", pack.Packed{Codec: pack.Zstd, Body: bytes.Repeat(pack.Pack(make([]byte, pack.MaxPlain/2+1), nil).Body, 2)}, nil, nil, pack.ErrTooLong},
		{"codec of the future", pack.Packed{Codec: 200, Body: text}, nil, nil, pack.ErrUnknownCodec},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := pack.Unpack(tt.packed, tt.dict, tt.base...)
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if got != nil {
				t.Errorf("with the error came %d bytes", len(got))
			}
		})
	}
	if got, err := pack.Unpack(based, d, base); err != nil || !bytes.Equal(got, text) {
		t.Errorf("after the refusals the right base gives %d bytes, error %v", len(got), err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Texts of databases that were made before there were dictionaries: plain ones,
// and zstd frames by this encoder.
func TestReadsWhatWasStoredBefore(t *testing.T) {
	before := must(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(2), zstd.WithWindowSize(1<<18)))
	for _, text := range [][]byte{prose(300), prose(9000), prose(500_000)} {
		got, err := pack.Unpack(pack.Packed{Codec: pack.Zstd, Body: before.EncodeAll(text, nil)}, nil)
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("a text of %d bytes came back as %d, error %v", len(text), len(got), err)
		}
	}
}

func TestNewDictionary(t *testing.T) {
	tests := []struct {
		name    string
		id      uint32
		content []byte
		ok      bool
	}{
		{"id 0", 0, []byte("text"), false},
		{"empty", 1, nil, false},
		{"at the limit", 1, make([]byte, pack.MaxDictionary), true},
		{"over the limit", 1, make([]byte, pack.MaxDictionary+1), false},
	}
	for _, tt := range tests {
		if _, err := pack.NewDictionary(tt.id, tt.content); (err == nil) != tt.ok {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
	content := bytes.Clone(prose(1000))
	d := must(pack.NewDictionary(3, content))
	p := pack.Pack(prose(1000), d)
	clear(content)
	if got, err := pack.Unpack(p, d); err != nil || !bytes.Equal(got, prose(1000)) {
		t.Errorf("a dictionary changed with the slice it was made of: error %v", err)
	}
}

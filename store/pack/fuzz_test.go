package pack_test

import (
	"bytes"
	"testing"

	"github.com/countersign/countersign/store/pack"
)

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte(""), []byte(""), []byte(""))
	f.Add(prose(400), prose(300), prose(200))
	f.Add(bytes.Repeat([]byte("ab"), 40), []byte("ab"), []byte("a"))
	f.Fuzz(func(t *testing.T, plain, content, base []byte) {
		var dict *pack.Dictionary
		if len(content) > 0 && len(content) <= pack.MaxDictionary {
			dict = must(pack.NewDictionary(1, content))
		}
		p := pack.Pack(plain, dict, base)
		if len(p.Body) > len(plain) {
			t.Errorf("%d bytes became %d", len(plain), len(p.Body))
		}
		if got, err := pack.Unpack(p, dict, base); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%d bytes came back as %d, error %v", len(plain), len(got), err)
		}
	})
}

// Unpack takes anything without panic, and gives either a text or an error.
func FuzzUnpack(f *testing.F) {
	text, base := prose(400), prose(300)
	dict := must(pack.NewDictionary(1, prose(200)))
	for _, p := range []pack.Packed{pack.Pack(text, nil), pack.Pack(text, dict), pack.Pack(text, nil, base), pack.Pack(text, dict, base)} {
		f.Add(uint8(p.Codec), p.Dict, p.Body, base)
	}
	f.Add(uint8(pack.Zstd), uint32(0), []byte("(\xb5/\xfd\xe0\xff\xff\xff\xff\xff\xff\xff\xff"), []byte{})
	f.Fuzz(func(t *testing.T, codec uint8, id uint32, body, base []byte) {
		got, err := pack.Unpack(pack.Packed{Codec: pack.Codec(codec), Dict: id, Body: body}, dict, base)
		if err != nil && got != nil {
			t.Errorf("both an error (%v) and %d bytes", err, len(got))
		}
		if len(got) > pack.MaxPlain {
			t.Errorf("%d bytes came of %d", len(got), len(body))
		}
	})
}

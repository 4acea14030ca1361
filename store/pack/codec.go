package pack

import "fmt"

// Codec says how a text is packed. The numbers are on disk: they never change
// and none is used again.
type Codec uint8

const (
	// Plain is the text itself.
	Plain Codec = 0
	// Zstd is one or more zstd frames (RFC 8878) without a dictionary.
	Zstd Codec = 1
	// ZstdDict is a zstd frame with a checksum; the dictionary's content is its
	// history ("raw content" dictionary of RFC 8878, section 5, without an id).
	ZstdDict Codec = 2
	// ZstdBase is like ZstdDict; the history is the dictionary's content, if
	// there is one, followed by the bases in their order.
	ZstdBase Codec = 3
)

// NeedsBase says whether Unpack needs the bases that Pack was given. It ignores
// them otherwise, so a caller may spare itself reading them.
func (c Codec) NeedsBase() bool { return c == ZstdBase }

func (c Codec) String() string {
	switch c {
	case Plain:
		return "plain"
	case Zstd:
		return "zstd"
	case ZstdDict:
		return "zstd with dictionary"
	case ZstdBase:
		return "zstd with base"
	}
	return fmt.Sprintf("codec %d", uint8(c))
}

// Packed is a text as it is stored. All three fields are needed to unpack it.
type Packed struct {
	Codec Codec
	Dict  uint32 // ID of the dictionary that Unpack needs, 0 for none
	Body  []byte
}

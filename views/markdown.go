package views

import "github.com/a-h/templ"

// Style is how Markdown has a stretch of text, as bits.
type Style int

// Styles of a stretch of text.
const (
	Strong Style = 1 << iota
	Emphasised
	Code
)

// class names the style for the stylesheet.
func (s Style) class() string {
	class := ""
	for _, n := range []struct {
		bit  Style
		name string
	}{{Strong, "strong"}, {Emphasised, "emphasised"}, {Code, "coded"}} {
		if s&n.bit != 0 {
			class += " " + n.name
		}
	}
	return "styled" + class
}

// BlockKind is what a block of Markdown is.
type BlockKind string

// Block kinds.
const (
	BlockText    BlockKind = ""
	BlockHeading BlockKind = "heading"
	BlockCode    BlockKind = "code"
	BlockTable   BlockKind = "table"
	BlockRule    BlockKind = "rule"
)

// Block is one block of a text in Markdown.
type Block struct {
	Kind BlockKind
	// Level of a heading, 1 to 6.
	Level int
	// Depth is how many lists it stands in, and Marker the bullet or number before
	// it; empty for a later block of the same item.
	Depth  int
	Marker string
	Quoted bool
	// Label is the language of code; may be empty.
	Label    string
	Segments []Segment
	Rows     []BlockRow // of a table
}

// BlockRow is a row of a table.
type BlockRow struct {
	Head  bool
	Cells [][]Segment
}

func (b Block) class() string {
	class := "block"
	if b.Kind == BlockHeading {
		class += " block-heading"
	}
	if b.Depth > 0 {
		class += " in-list-" + itoa(min(b.Depth, 6))
	}
	if b.Quoted {
		class += " quoted-block"
	}
	return class
}

func (b Block) codeName() string {
	if b.Label == "" {
		return "Code"
	}
	return "Code, " + b.Label
}

func current(here bool) string {
	if here {
		return "true"
	}
	return "false"
}

// langOf is the attribute that names a trace's language.
func langOf(t TraceText) templ.Attributes {
	if t.Lang == "" {
		return nil
	}
	return templ.Attributes{"lang": t.Lang}
}

func textChosen(markdown bool) string {
	if markdown {
		return "markdown"
	}
	return ""
}

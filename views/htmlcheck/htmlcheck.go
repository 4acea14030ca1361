// Package htmlcheck checks pages by CSS selectors, for tests. Checks compose:
// In narrows to the first element of a selector and runs further checks there.
// It says what a page must hold and never compares a page as a whole, so that
// a test fails for its own reason only.
package htmlcheck

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// A Check looks at a node and what is under it, and says what is wrong.
type Check func(*html.Node) error

// Parse reads a page as a browser would.
func Parse(r io.Reader) (*html.Node, error) {
	doc, err := html.Parse(r)
	if err != nil {
		return nil, fmt.Errorf("htmlcheck: page cannot be parsed: %w", err)
	}
	return doc, nil
}

// Run does all checks and returns the first fault.
func Run(n *html.Node, checks ...Check) error {
	for _, c := range checks {
		if err := c(n); err != nil {
			return err
		}
	}
	return nil
}

// All finds every element of a selector, in document order. It panics when
// the selector is malformed: that is a fault of the test.
func All(n *html.Node, selector string) []*html.Node {
	return cascadia.QueryAll(n, cascadia.MustCompile(selector))
}

// In runs checks on the first element of a selector, which must be there.
func In(selector string, checks ...Check) Check {
	return func(n *html.Node) error {
		found := All(n, selector)
		if len(found) == 0 {
			return fmt.Errorf("%s: not found", selector)
		}
		if err := Run(found[0], checks...); err != nil {
			return fmt.Errorf("%s: %w", selector, err)
		}
		return nil
	}
}

// Each runs checks on every element of a selector, of which there may be none.
func Each(selector string, checks ...Check) Check {
	return func(n *html.Node) error {
		for i, m := range All(n, selector) {
			if err := Run(m, checks...); err != nil {
				return fmt.Errorf("%s, number %d: %w", selector, i+1, err)
			}
		}
		return nil
	}
}

// None wants no element of a selector.
func None(selector string) Check { return Count(selector, 0) }

// Count wants exactly so many elements of a selector.
func Count(selector string, want int) Check {
	return func(n *html.Node) error {
		found := All(n, selector)
		if len(found) != want {
			return fmt.Errorf("%s: found %d, want %d%s", selector, len(found), want, sample(found))
		}
		return nil
	}
}

// Text wants the text, white space folded, to be exactly this.
func Text(want string) Check {
	return func(n *html.Node) error {
		if got := Folded(n); got != want {
			return fmt.Errorf("text %q, want %q", got, want)
		}
		return nil
	}
}

// Contains wants the text, white space folded, to contain this.
func Contains(want string) Check {
	return func(n *html.Node) error {
		if got := Folded(n); !strings.Contains(got, want) {
			return fmt.Errorf("text %q does not contain %q", got, want)
		}
		return nil
	}
}

// Attr wants an attribute to have this value.
func Attr(name, want string) Check {
	return func(n *html.Node) error {
		got, ok := AttrOf(n, name)
		if !ok {
			return fmt.Errorf("no attribute %s, want %q", name, want)
		}
		if got != want {
			return fmt.Errorf("attribute %s is %q, want %q", name, got, want)
		}
		return nil
	}
}

// AttrOf is the value of an attribute, and whether there is one.
func AttrOf(n *html.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}

// Raw is the text under a node as it is.
func Raw(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// Folded is the text under a node as it reads: runs of white space are one
// space, and so is the edge of every element that is not part of a line.
func Folded(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
			return
		}
		edge := n.Type == html.ElementNode && !inline(n.Data)
		if edge {
			b.WriteByte(' ')
		}
		for c := range n.ChildNodes() {
			walk(c)
		}
		if edge {
			b.WriteByte(' ')
		}
	}
	walk(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

// inline says that an element is part of a line of text.
func inline(name string) bool {
	switch name {
	case "a", "abbr", "b", "code", "i", "kbd", "label", "mark", "q", "span", "strong", "time", "svg", "use":
		return true
	}
	return false
}

// sample shows the first of the elements found, for a message.
func sample(found []*html.Node) string {
	if len(found) == 0 {
		return ""
	}
	var b bytes.Buffer
	if html.Render(&b, found[0]) != nil || b.Len() > 300 {
		return ""
	}
	return ", first: " + b.String()
}

package views_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/a-h/templ"
	"golang.org/x/net/html"

	"github.com/countersign/countersign/views/htmlcheck"
)

// render draws a page and reads it as a browser would.
func render(t testing.TB, c templ.Component) *html.Node {
	t.Helper()
	var b strings.Builder
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	doc, err := htmlcheck.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// check runs every check and reports every fault.
func check(t *testing.T, doc *html.Node, checks ...htmlcheck.Check) {
	t.Helper()
	for _, c := range checks {
		if err := htmlcheck.Run(doc, c); err != nil {
			t.Error(err)
		}
	}
}

// wellFormed are the rules that hold on every page.
func wellFormed() []htmlcheck.Check {
	return []htmlcheck.Check{
		htmlcheck.In("html", htmlcheck.Attr("lang", "en-GB")),
		htmlcheck.In("title", htmlcheck.Contains(" · Countersign")),
		htmlcheck.Count("h1", 1),
		htmlcheck.Count("main#main", 1),
		// The policy is default-src 'self': nothing inline.
		htmlcheck.None(`script:not([src^="/static/"])`), htmlcheck.Count("script[src^='/static/app.']", 1),
		htmlcheck.None("style"), htmlcheck.None("[style]"), handlersInline, linksStay,
		htmlcheck.Each("form[method=post]", htmlcheck.In("input[type=hidden][name=_csrf]", htmlcheck.Attr("value", "token-1"))),
		idsUnique, refsFound, headingsInOrder, controlsNamed,
	}
}

func handlersInline(n *html.Node) error {
	for _, el := range htmlcheck.All(n, "*") {
		for _, a := range el.Attr {
			if strings.HasPrefix(a.Key, "on") {
				return fmt.Errorf("<%s> has an inline handler %s", el.Data, a.Key)
			}
		}
	}
	return nil
}

// linksStay wants every address to stay on the site.
func linksStay(n *html.Node) error {
	for _, el := range htmlcheck.All(n, "[href], [src], [action], [formaction]") {
		for _, name := range []string{"href", "src", "action", "formaction"} {
			if v, ok := htmlcheck.AttrOf(el, name); ok && (strings.HasPrefix(v, "//") || !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "#")) {
				return fmt.Errorf("<%s %s=%q> leads elsewhere", el.Data, name, v)
			}
		}
	}
	return nil
}

func idsUnique(n *html.Node) error {
	seen := make(map[string]bool)
	for _, el := range htmlcheck.All(n, "[id]") {
		id, _ := htmlcheck.AttrOf(el, "id")
		if seen[id] {
			return fmt.Errorf("id %q is there twice", id)
		}
		seen[id] = true
	}
	return nil
}

// refsFound wants every id that is named to exist.
func refsFound(n *html.Node) error {
	ids := make(map[string]bool)
	for _, el := range htmlcheck.All(n, "[id]") {
		id, _ := htmlcheck.AttrOf(el, "id")
		ids[id] = true
	}
	for _, name := range []string{"for", "form", "aria-labelledby", "aria-describedby", "popovertarget"} {
		for _, el := range htmlcheck.All(n, "["+name+"]") {
			v, _ := htmlcheck.AttrOf(el, name)
			for id := range strings.FieldsSeq(v) {
				if !ids[id] {
					return fmt.Errorf("<%s %s=%q>: there is no such id", el.Data, name, id)
				}
			}
		}
	}
	for _, el := range htmlcheck.All(n, "a[href^='#'], use[href^='#']") {
		v, _ := htmlcheck.AttrOf(el, "href")
		if !ids[v[1:]] {
			return fmt.Errorf("<%s href=%q> leads nowhere", el.Data, v)
		}
	}
	return nil
}

func headingsInOrder(n *html.Node) error {
	last := 0
	for _, h := range htmlcheck.All(n, "main h1, main h2, main h3, main h4") {
		level := int(h.Data[1] - '0')
		if last > 0 && level > last+1 {
			return fmt.Errorf("<%s>%s</%s> follows an h%d", h.Data, htmlcheck.Folded(h), h.Data, last)
		}
		last = level
	}
	return nil
}

// controlsNamed wants a label on each field and a caption on each table.
func controlsNamed(n *html.Node) error {
	labels := make(map[string]bool)
	for _, l := range htmlcheck.All(n, "label[for]") {
		id, _ := htmlcheck.AttrOf(l, "for")
		labels[id] = true
	}
	for _, el := range htmlcheck.All(n, "input:not([type=hidden]), select, textarea") {
		id, _ := htmlcheck.AttrOf(el, "id")
		if _, named := htmlcheck.AttrOf(el, "aria-label"); el.Parent.Data != "label" && !labels[id] && !named {
			return fmt.Errorf("<%s id=%q> has no label", el.Data, id)
		}
	}
	for _, table := range htmlcheck.All(n, "table") {
		if len(htmlcheck.All(table, "caption")) != 1 {
			return fmt.Errorf("a table has no caption: %s", htmlcheck.Folded(table))
		}
	}
	return nil
}

func TestEveryPage(t *testing.T) {
	for _, p := range samplePages() {
		t.Run(p.name, func(t *testing.T) {
			check(t, render(t, p.page), wellFormed()...)
		})
	}
}

func BenchmarkQueue50(b *testing.B) {
	p := queuePage(50)
	var out strings.Builder
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := p.Render(context.Background(), &out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDesk(b *testing.B) {
	p := blindDesk()
	var out strings.Builder
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		if err := p.Render(context.Background(), &out); err != nil {
			b.Fatal(err)
		}
	}
}

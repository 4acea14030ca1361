package web

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/views"
)

// Markdown only gives a text its shape: paragraphs, headings, lists, quotations,
// code, tables, bold and italic. Links, images and HTML stay the characters that
// they are, so nothing loads or leads anywhere, and every run knows its bytes in
// the output, so that the marks of citations and findings stand where they stood.

// reader of Markdown. It has no parser of links, images, addresses or HTML.
var markdownParser = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
	parser.WithInlineParsers(
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(formulaParser{}, 200),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	),
	parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
)

// formulaParser takes a formula in TeX as text: its stars and underscores are no
// emphasis. A formula stands within a line.
type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte{'$', '\\'} }

func (formulaParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, at := block.PeekLine()
	for _, f := range [][2]string{{"$$", "$$"}, {`\(`, `\)`}, {`\[`, `\]`}, {"$", "$"}} {
		rest, found := strings.CutPrefix(string(line), f[0])
		if !found {
			continue
		}
		end := strings.Index(rest, f[1])
		if end < 1 {
			return nil
		}
		// As pandoc has it: "$5 and $6" is money.
		if f[0] == "$" && (unicode.IsSpace(rune(rest[0])) || unicode.IsSpace(rune(rest[end-1])) || len(rest) > end+1 && unicode.IsDigit(rune(rest[end+1]))) {
			return nil
		}
		n := len(f[0]) + end + len(f[1])
		block.Advance(n)
		return ast.NewTextSegment(text.NewSegment(at.Start, at.Start+n))
	}
	return nil
}

// run is a stretch of the output in one style.
type run struct {
	evidence.Span
	style views.Style
}

// leaf is a block that holds text, as it stands in the output.
type leaf struct {
	views.Block
	runs  []run
	cells [][]run // of a row of a table
	// label is where the language of code stands.
	label evidence.Span
}

// all are the runs of a leaf, whether in cells or not.
func (l *leaf) all() []run {
	if l.cells != nil {
		return slices.Concat(l.cells...)
	}
	return l.runs
}

// layOut gives the steps of a document their Markdown blocks, with the marks of its
// citations.
func layOut(doc *views.TraceText, t *judge.Trace, all []ruling.Citation) {
	marks := traceMarks(all)
	layOutText(doc.Steps, t.Output, marks, func(s evidence.Span, marks []mark) []views.Segment { return cut(t.Output, s, marks) })
}

// layOutText gives the steps of a text their Markdown blocks, whose words draw makes of
// a span with the marks around it. A step of which Markdown would hide a word stays as
// it was written.
func layOutText(steps []views.Step, output string, marks []mark, draw func(evidence.Span, []mark) []views.Segment) {
	leaves := leavesOf(output)
	next := 0 // the first leaf that may reach into the step
	for i, s := range evidence.Steps(output) {
		window := evidence.Span{Start: s.Start, End: s.End}
		for next < len(leaves) && endOf(&leaves[next]) <= s.Start {
			next++
		}
		last := next
		for last < len(leaves) && startOf(&leaves[last]) < s.End {
			last++
		}
		if hidesWord(output, window, leaves[next:last]) {
			continue
		}
		steps[i].Blocks = blocksOf(window, leaves[next:last], inWindow(marks, window), draw)
	}
}

// textFor completes a trace as this page's reader sees it: as Markdown where they
// want that, with the way to the other, and with what a copy says of its origin.
func textFor(f views.Frame, doc *views.TraceText, t *judge.Trace, all []ruling.Citation, revision int, hash string) {
	if f.Markdown {
		doc.Markdown = true
		layOut(doc, t, all)
	}
	doc.PlainHref, doc.MarkdownHref = withText(f.Path, "plain"), withText(f.Path, "markdown")
	doc.Reference = fmt.Sprintf("trace %s, revision %d, sha256 %.12s", t.ID, revision, hash)
}

// withText is the address of a page with its text shown in one way.
func withText(path, as string) string {
	u, err := url.Parse(path)
	if err != nil {
		return ""
	}
	q := u.Query()
	q.Set("text", as)
	u.RawQuery = q.Encode()
	return u.String()
}

func startOf(l *leaf) int {
	if runs := l.all(); len(runs) > 0 {
		return runs[0].Start
	}
	return l.label.Start
}

func endOf(l *leaf) int {
	if runs := l.all(); len(runs) > 0 {
		return runs[len(runs)-1].End
	}
	return l.label.End
}

// inWindow are the marks that reach into a window.
func inWindow(marks []mark, w evidence.Span) []mark {
	var in []mark
	for _, m := range marks {
		if m.Start < w.End && m.End > w.Start {
			in = append(in, m)
		}
	}
	return in
}

// plainSteps are the steps of a text without marks, laid out as Markdown has them.
func plainSteps(text string) []views.Step {
	parts := evidence.Steps(text)
	steps := make([]views.Step, len(parts))
	layOutText(steps, text, nil, func(s evidence.Span, _ []mark) []views.Segment { return views.Text(text[s.Start:s.End]) })
	return steps
}

// blocksOf draws the part of leaves that lies in a window.
func blocksOf(window evidence.Span, leaves []leaf, marks []mark, words func(evidence.Span, []mark) []views.Segment) []views.Block {
	var blocks []views.Block
	draw := func(runs []run) []views.Segment {
		var list []views.Segment
		for _, r := range whole(clipped(runs, window), marks) {
			for _, s := range words(r.Span, marks) {
				s.Style = r.style
				list = append(list, s)
			}
		}
		return list
	}
	for _, l := range leaves {
		b := l.Block
		if startOf(&l) < window.Start {
			b.Marker, b.Label = "", "" // they stand in the step before
		}
		if l.cells == nil {
			if b.Segments = draw(l.runs); len(b.Segments) > 0 || b.Kind == views.BlockRule {
				blocks = append(blocks, b)
			}
			continue
		}
		row := views.BlockRow{Head: b.Level == 1}
		for _, c := range l.cells {
			row.Cells = append(row.Cells, draw(c))
		}
		if n := len(blocks); n > 0 && blocks[n-1].Kind == views.BlockTable && !row.Head {
			blocks[n-1].Rows = append(blocks[n-1].Rows, row)
			continue
		}
		b.Level, b.Rows = 0, []views.BlockRow{row}
		blocks = append(blocks, b)
	}
	return blocks
}

func clipped(runs []run, w evidence.Span) []run {
	var in []run
	for _, r := range runs {
		if r.Start, r.End = max(r.Start, w.Start), min(r.End, w.End); r.Start < r.End {
			in = append(in, r)
		}
	}
	return in
}

// whole moves the ends of runs so that none lies inside a chip, which would be
// drawn twice.
func whole(runs []run, marks []mark) []run {
	for i := range runs {
		for _, m := range marks {
			if m.isChip() && runs[i].Start < m.End && m.Start < runs[i].End {
				if i > 0 && m.Start < runs[i].Start && runs[i-1].End > m.Start {
					runs[i].Start = min(m.End, runs[i].End)
				} else {
					runs[i].End = max(runs[i].End, m.End)
				}
			}
		}
	}
	return slices.DeleteFunc(runs, func(r run) bool { return r.Start >= r.End })
}

// hidesWord says that a letter or digit of the window is in no leaf.
func hidesWord(output string, window evidence.Span, leaves []leaf) bool {
	at := window.Start
	lost := func(end int) bool {
		return at < end && strings.ContainsFunc(output[at:end], isWord)
	}
	for _, l := range leaves {
		runs := l.all()
		if l.label.End > l.label.Start {
			runs = slices.Concat([]run{{Span: l.label}}, runs)
		}
		for i, r := range clipped(runs, window) {
			start := r.Start
			if i == 0 && l.Marker != "" && (l.Kind == views.BlockText || l.Kind == views.BlockHeading) { // the marker is drawn
				start = min(start, max(window.Start, 1+strings.LastIndexByte(output[:r.Start], '\n')))
			}
			if lost(start) {
				return true
			}
			at = max(at, r.End)
		}
	}
	return lost(window.End)
}

// isWord says that a character is of a word or number.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// leavesOf reads a text as Markdown.
func leavesOf(output string) []leaf {
	source := []byte(output)
	r := markdownReader{source: output}
	r.blocks(markdownParser.Parse(text.NewReader(source)), views.Block{})
	return r.leaves
}

type markdownReader struct {
	source string
	leaves []leaf
}

// blocks reads the children of a block; in tells where they stand.
func (m *markdownReader) blocks(parent ast.Node, in views.Block) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		l := leaf{Block: in}
		before := len(m.leaves)
		switch n := n.(type) {
		case *ast.List:
			i := n.Start
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				inside := views.Block{Depth: in.Depth + 1, Quoted: in.Quoted, Marker: "•"}
				if n.IsOrdered() {
					inside.Marker = strconv.Itoa(i) + string(n.Marker)
				}
				m.blocks(item, inside)
				i++
			}
		case *ast.Blockquote:
			in := in
			in.Quoted = true
			m.blocks(n, in)
		case *ast.Heading:
			l.Kind, l.Level = views.BlockHeading, n.Level
			l.runs = m.inline(n, 0, nil)
			m.leaves = append(m.leaves, l)
		case *ast.FencedCodeBlock:
			l.Kind = views.BlockCode
			if n.Info != nil {
				l.label = evidence.Span{Start: n.Info.Segment.Start, End: n.Info.Segment.Stop}
				l.Label = m.source[l.label.Start:l.label.End]
			}
			for i := range n.Lines().Len() {
				s := n.Lines().At(i)
				l.runs = joinedRuns(l.runs, run{Span: evidence.Span{Start: s.Start, End: s.Stop}})
			}
			m.leaves = append(m.leaves, l)
		case *ast.ThematicBreak:
			l.Kind = views.BlockRule
			l.label = evidence.Span{Start: n.Pos(), End: n.Pos() + 1}
			m.leaves = append(m.leaves, l)
		case *east.Table:
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				l := leaf{Block: in, cells: [][]run{}}
				l.Kind = views.BlockTable
				if row.Kind() == east.KindTableHeader {
					l.Level = 1
				}
				for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
					l.cells = append(l.cells, m.inline(cell, 0, nil))
				}
				m.leaves = append(m.leaves, l)
			}
		default: // a paragraph, or a block of text in a list
			l.runs = m.inline(n, 0, nil)
			m.leaves = append(m.leaves, l)
		}
		if len(m.leaves) > before {
			in.Marker = "" // the first block of an item has it
		}
	}
}

// inline reads the runs of a block. Line ends between them are kept.
func (m *markdownReader) inline(parent ast.Node, style views.Style, runs []run) []run {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			s := evidence.Span{Start: n.Segment.Start, End: n.Segment.Stop}
			if last := len(runs) - 1; last >= 0 && runs[last].End < s.Start {
				gap := m.source[runs[last].End:s.Start]
				if strings.TrimSpace(gap) == "" {
					runs[last].End = s.Start
				} else if at := strings.IndexByte(gap, '\n'); at >= 0 {
					at += runs[last].End
					runs = append(runs, run{Span: evidence.Span{Start: at, End: at + 1}})
				}
			}
			if s.Start < s.End {
				runs = joinedRuns(runs, run{s, style})
			}
		case *ast.Emphasis:
			more := views.Emphasised
			if n.Level == 2 {
				more = views.Strong
			}
			runs = m.inline(n, style|more, runs)
		case *ast.CodeSpan:
			runs = m.inline(n, style|views.Code, runs)
		default:
			runs = m.inline(n, style, runs)
		}
	}
	return runs
}

// joinedRuns adds a run, as one with the run before where nothing parts them.
func joinedRuns(runs []run, r run) []run {
	if last := len(runs) - 1; last >= 0 && runs[last].End == r.Start && runs[last].style == r.style {
		runs[last].End = r.End
		return runs
	}
	return append(runs, r)
}

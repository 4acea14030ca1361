// Package views draws the pages: one struct and one templ component a page.
// A page struct holds everything its page shows, so that what the struct has
// no value for cannot be on the page; that is how a blind review stays blind.
//
// This package never sees the database and never decides: it asks nothing,
// checks no permission and computes no statistic. All text of a trace, a
// source, a report or a person is escaped; nothing here writes raw HTML, an
// inline script or an inline style, and no address found inside a trace
// becomes a link.
package views

package web

import (
	"net/url"
	"strconv"
)

// The addresses of things, in one place: ids of traces and names of runs come
// from files and may hold anything.

func reviewPath(id string) string          { return "/reviews/" + url.PathEscape(id) }
func evaluationPath(id string) string      { return "/evaluations/" + url.PathEscape(id) }
func tracePath(externalID string) string   { return "/traces/" + url.PathEscape(externalID) }
func runPath(name string) string           { return "/runs/" + url.PathEscape(name) }
func releasePath(run string) string        { return runPath(run) + "/release" }
func judgePath(name string) string         { return "/judges/" + url.PathEscape(name) }
func calibrationPath(judge string) string  { return "/calibration/" + url.PathEscape(judge) }
func revisionPath(id string, n int) string { return tracePath(id) + "?revision=" + strconv.Itoa(n) }

// withParam is the present address with one parameter set, and emptied of it
// when the value is empty.
func withParam(u *url.URL, name, value string) string {
	q := u.Query()
	q.Del(name)
	if value != "" {
		q.Set(name, value)
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}

// paging leads through a list whose cursor is the parameter "after".
func paging(u *url.URL, next string) (nextHref, firstHref string) {
	if next != "" {
		nextHref = withParam(u, "after", next)
	}
	if u.Query().Get("after") != "" {
		firstHref = withParam(u, "after", "")
	}
	return nextHref, firstHref
}

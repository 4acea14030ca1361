package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// tabsOf lists the tabs a role may see.
func tabsOf(r store.Role) []views.Tab {
	tabs := []views.Tab{views.TabOverview, views.TabQueue, views.TabEvaluations, views.TabRuns, views.TabJudges}
	if r != store.Reviewer {
		tabs = append(tabs, views.TabCalibration, views.TabPolicy)
	}
	if r == store.Lead || r == store.Admin {
		tabs = append(tabs, views.TabImport)
	}
	if r != store.Reviewer {
		tabs = append(tabs, views.TabMembers, views.TabAudit)
	}
	return tabs
}

var roleWords = map[store.Role]string{
	store.Reviewer: "Reviewer", store.Lead: "Lead", store.Auditor: "Auditor", store.Admin: "Admin",
}

// frame fills what every page has round its content.
func (s *Server) frame(c echo.Context, title string, current views.Tab) (views.Frame, error) {
	f := s.bareFrame(c, title)
	u := user(c)
	f.Person, f.Role, f.Current, f.Tabs = u.Name, roleWords[u.Role], current, tabsOf(u.Role)
	f.MayReview = u.Actor().MayDecide()
	f.Path = c.Request().URL.RequestURI()
	f.Flash = s.takeFlash(c)
	var err error
	if f.Projects, err = s.projectNames(c); err != nil {
		return f, err
	}
	f.Project = s.projectOf(c, f.Projects)
	counts, err := s.cfg.Store.QueueCounts(c.Request().Context(), u.Actor(), f.Project)
	if err != nil {
		return f, err
	}
	f.QueueCount = counts.Total
	return f, nil
}

// bareFrame is the frame of pages that nobody is signed in for.
func (s *Server) bareFrame(c echo.Context, title string) views.Frame {
	p := readPreferences(c)
	token, _ := c.Get("csrf").(string)
	return views.Frame{
		Title: title, Theme: p.theme, Density: p.density, Shortcuts: p.shortcuts, Markdown: asMarkdown(c, p), CSRF: token,
		Demo: s.cfg.Demo, Version: s.cfg.Version, Now: s.cfg.Now(),
	}
}

func (s *Server) projectNames(c echo.Context) ([]string, error) {
	projects, err := s.cfg.Store.Projects(c.Request().Context())
	if err != nil {
		return nil, err
	}
	names := make([]string, len(projects))
	for i, p := range projects {
		names[i] = p.Name
	}
	return names, nil
}

// project is the project of a page's request.
func (s *Server) project(c echo.Context) (string, error) {
	names, err := s.projectNames(c)
	return s.projectOf(c, names), err
}

func (s *Server) projectOf(c echo.Context, names []string) string {
	if p := readPreferences(c).project; slices.Contains(names, p) {
		return p
	}
	return s.cfg.Project
}

const flashCookie = "countersign_flash"

// flash keeps one message for the next page. It holds our own words only.
func (s *Server) flash(c echo.Context, kind views.NoticeKind, text string) {
	s.setFlash(c, views.Notice{Kind: kind, Text: text})
}

// setFlash keeps a message that may offer to take something back.
func (s *Server) setFlash(c echo.Context, n views.Notice) {
	q := url.Values{"kind": {string(n.Kind)}, "text": {n.Text}}
	if n.Undo != "" {
		q.Set("undo", n.Undo)
		q.Set("until", strconv.FormatInt(s.cfg.Now().Unix()+int64(n.UndoSeconds), 10))
	}
	c.SetCookie(&http.Cookie{
		Name: flashCookie, Value: q.Encode(), Path: "/", MaxAge: 60,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(s.cfg.BaseURL, "https://"),
	})
}

func (s *Server) takeFlash(c echo.Context) views.Notice {
	cookie, err := c.Cookie(flashCookie)
	if err != nil {
		return views.Notice{}
	}
	c.SetCookie(&http.Cookie{Name: flashCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteLaxMode})
	q, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return views.Notice{}
	}
	n := views.Notice{Kind: views.NoticeInfo, Text: q.Get("text")}
	if views.NoticeKind(q.Get("kind")) == views.NoticeBad {
		n.Kind = views.NoticeBad
	}
	until, err := strconv.ParseInt(q.Get("until"), 10, 64)
	// The address is one of ours, whoever wrote the cookie.
	if left := until - s.cfg.Now().Unix(); err == nil && left > 0 && localPath(q.Get("undo")) == q.Get("undo") {
		n.Undo, n.UndoSeconds = q.Get("undo"), int(left)
	}
	return n
}

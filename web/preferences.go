package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/views"
)

const preferencesCookie = "countersign_preferences"

// preferences are how a person likes pages; they live in a cookie and hold no
// secret. Unknown values fall back to the defaults.
type preferences struct {
	theme     string // light, dark, or empty for the system's
	density   string // compact or empty
	shortcuts bool
	markdown  bool   // traces are shown as Markdown has them
	project   string // empty: the server's
}

func readPreferences(c echo.Context) preferences {
	p := preferences{shortcuts: true}
	cookie, err := c.Cookie(preferencesCookie)
	if err != nil {
		return p
	}
	q, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return p
	}
	return preferencesOf(q)
}

func preferencesOf(q url.Values) preferences {
	p := preferences{shortcuts: q.Get("shortcuts") != "off", project: q.Get("project"), markdown: q.Get("text") == "markdown"}
	if t := q.Get("theme"); t == "light" || t == "dark" {
		p.theme = t
	}
	if q.Get("density") == "compact" {
		p.density = "compact"
	}
	return p
}

func (s *Server) savePreferences(c echo.Context, p preferences) {
	q := url.Values{"theme": {p.theme}, "density": {p.density}, "project": {p.project}, "shortcuts": {"on"}}
	if p.markdown {
		q.Set("text", "markdown")
	}
	if !p.shortcuts {
		q.Set("shortcuts", "off")
	}
	c.SetCookie(&http.Cookie{
		Name: preferencesCookie, Value: q.Encode(), Path: "/", MaxAge: 365 * 86400,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(s.cfg.BaseURL, "https://"),
	})
}

func (s *Server) showPreferences(c echo.Context) error {
	f, err := s.frame(c, "Preferences", "")
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Preferences(views.PreferencesPage{Frame: f, Email: user(c).Email}))
}

func (s *Server) changePreferences(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	p := preferencesOf(form)
	p.shortcuts = form.Get("shortcuts") == "on"
	projects, err := s.projectNames(c)
	if err != nil {
		return err
	}
	if !slices.Contains(projects, p.project) {
		p.project = ""
	}
	s.savePreferences(c, p)
	s.flash(c, views.NoticeInfo, "Your preferences are saved in this browser.")
	return c.Redirect(http.StatusSeeOther, "/preferences")
}

// changeTheme is the button in the masthead: it touches nothing but the theme.
func (s *Server) changeTheme(c echo.Context) error {
	p := readPreferences(c)
	p.theme = preferencesOf(url.Values{"theme": {c.FormValue("theme")}}).theme
	s.savePreferences(c, p)
	return c.Redirect(http.StatusSeeOther, localPath(c.FormValue("next")))
}

// asMarkdown says whether a page shows traces as Markdown: as its address asks
// for, else as the person likes it.
func asMarkdown(c echo.Context, p preferences) bool {
	switch c.QueryParam("text") {
	case "markdown":
		return true
	case "plain":
		return false
	}
	return p.markdown
}

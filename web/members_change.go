package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showMember(c echo.Context) error {
	return s.renderMember(c, http.StatusOK, nil, func(*views.MemberPage) {})
}

// renderMember shows one person; typed is what a refused form held.
func (s *Server) renderMember(c echo.Context, status int, typed *views.MemberFields, add func(*views.MemberPage)) error {
	m, err := s.cfg.Store.Member(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	tab := views.TabMembers
	if user(c).Role == store.Reviewer {
		tab = ""
	}
	f, err := s.frame(c, m.Name, tab)
	if err != nil {
		return err
	}
	page := views.MemberPage{
		Frame: f, ID: m.ID, Email: m.Email, Disabled: m.DisabledAt != nil,
		MayChange: user(c).Role == store.Admin, Holds: m.Holds,
		Fields: views.MemberFields{
			Name: m.Name, Role: string(m.Role), Title: m.Profile.Title, Domains: commas(m.Profile.Domains), Languages: commas(m.Profile.Languages),
			Qualifications: commas(m.Profile.Qualifications), Conflicts: strings.Join(m.Profile.Conflicts, "\n"), TimeZone: m.Profile.TimeZone,
		},
	}
	if m.DisabledAt != nil {
		page.DisabledAt = m.DisabledAt.Format("2 January 2006")
	}
	if typed != nil {
		page.Fields = *typed
	}
	add(&page)
	return s.render(c, status, views.Member(page))
}

// changeMember sets name, role and profile.
func (s *Server) changeMember(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	typed := views.MemberFields{
		Name: form.Get("name"), Role: form.Get("role"), Title: form.Get("title"), Domains: form.Get("domains"), Languages: form.Get("languages"),
		Qualifications: form.Get("qualifications"), Conflicts: form.Get("conflicts"), TimeZone: form.Get("time_zone"),
	}
	err = s.cfg.Store.ChangeMember(c.Request().Context(), user(c).Actor(), param(c, "id"), store.MemberChange{
		Name: typed.Name, Role: store.Role(typed.Role),
		Profile: store.Profile{
			Title: typed.Title, Domains: splitAt(typed.Domains, ","), Languages: splitAt(typed.Languages, ","),
			Qualifications: splitAt(typed.Qualifications, ","), Conflicts: splitAt(typed.Conflicts, "\r\n"), TimeZone: typed.TimeZone,
		},
	})
	var fault *store.FieldError
	switch {
	case errors.As(err, &fault):
		if at := faultField(&typed, fault.Field); at != nil {
			*at = sentenceOf(fault)
		}
		return s.renderMember(c, http.StatusUnprocessableEntity, &typed, func(p *views.MemberPage) {
			p.Fault = views.Notice{Kind: views.NoticeBad, Title: "Nothing was changed", Text: sentenceOf(fault)}
		})
	case errors.Is(err, store.ErrConflict):
		return s.lastAdmin(c, &typed)
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, "Saved. It counts from the next claim on.")
	return c.Redirect(http.StatusSeeOther, memberPath(param(c, "id")))
}

// faultField is where the fault of a field is shown.
func faultField(f *views.MemberFields, field string) *string {
	return map[string]*string{
		"name": &f.NameFault, "role": &f.RoleFault, "title": &f.TitleFault, "domains": &f.DomainsFault, "languages": &f.LanguagesFault,
		"qualifications": &f.QualificationsFault, "conflicts": &f.ConflictsFault, "time_zone": &f.TimeZoneFault,
	}[field]
}

func (s *Server) lastAdmin(c echo.Context, typed *views.MemberFields) error {
	return s.renderMember(c, http.StatusConflict, typed, func(p *views.MemberPage) {
		p.Fault = views.Notice{Kind: views.NoticeBad, Title: "Nothing was changed",
			Text: "This is the last admin who can sign in: without one nobody could keep members. Make another one first."}
	})
}

func (s *Server) setMemberPassword(c echo.Context) error {
	return s.onMember(c, "The password is set, and their sessions have ended.", func(m store.Member) error {
		return s.cfg.Store.SetPassword(c.Request().Context(), user(c).Actor(), m.Email, c.FormValue("password"))
	})
}

func (s *Server) disableMember(c echo.Context) error {
	return s.onMember(c, "Disabled. What they held is back in the queue.", func(m store.Member) error {
		return s.cfg.Store.DisableUser(c.Request().Context(), user(c).Actor(), m.Email)
	})
}

func (s *Server) enableMember(c echo.Context) error {
	return s.onMember(c, "Enabled. They can sign in again.", func(m store.Member) error {
		return s.cfg.Store.EnableUser(c.Request().Context(), user(c).Actor(), m.Email)
	})
}

// onMember does one thing to a member and goes back to their page. Who changes
// their own password or account signs in again.
func (s *Server) onMember(c echo.Context, done string, do func(store.Member) error) error {
	m, err := s.cfg.Store.Member(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	err = do(m)
	var fault *store.FieldError
	switch {
	case errors.As(err, &fault):
		return s.renderMember(c, http.StatusUnprocessableEntity, nil, func(p *views.MemberPage) { p.PasswordFault = sentenceOf(fault) })
	case errors.Is(err, store.ErrConflict):
		return s.lastAdmin(c, nil)
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, done)
	return c.Redirect(http.StatusSeeOther, memberPath(m.ID))
}

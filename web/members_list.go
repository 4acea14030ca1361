package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func memberPath(id string) string { return "/members/" + url.PathEscape(id) }

func (s *Server) listMembers(c echo.Context) error {
	return s.renderMembers(c, http.StatusOK, views.NewMember{Role: string(store.Reviewer)})
}

func (s *Server) renderMembers(c echo.Context, status int, form views.NewMember) error {
	members, err := s.cfg.Store.Members(c.Request().Context(), user(c).Actor())
	if err != nil {
		return err
	}
	f, err := s.frame(c, "Members", views.TabMembers)
	if err != nil {
		return err
	}
	page := views.MembersPage{Frame: f, MayChange: user(c).Role == store.Admin, New: form}
	for _, m := range members {
		page.Rows = append(page.Rows, views.MemberRow{
			Href: memberPath(m.ID), Name: m.Name, Email: m.Email, Title: m.Profile.Title, Role: roleWords[m.Role], Domains: commas(m.Profile.Domains),
			Languages: commas(m.Profile.Languages), Qualifications: commas(m.Profile.Qualifications), Conflicts: commas(m.Profile.Conflicts),
			Holds: m.Holds, Disabled: m.DisabledAt != nil,
		})
	}
	return s.render(c, status, views.Members(page))
}

// addMember makes an account.
func (s *Server) addMember(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	again := views.NewMember{Email: form.Get("email"), Name: form.Get("name"), Role: form.Get("role"), Open: true}
	u, err := s.cfg.Store.CreateUser(c.Request().Context(), user(c).Actor(), store.NewUser{
		Email: again.Email, Name: again.Name, Role: store.Role(again.Role), Password: form.Get("password"),
	})
	var fault *store.FieldError
	switch {
	case errors.Is(err, store.ErrConflict):
		again.EmailFault = "Somebody has this email already."
		return s.renderMembers(c, http.StatusConflict, again)
	case errors.As(err, &fault):
		switch fault.Field {
		case "password":
			again.PasswordFault = sentenceOf(fault)
		case "name":
			again.NameFault = sentenceOf(fault)
		default:
			again.EmailFault = sentenceOf(fault)
		}
		return s.renderMembers(c, http.StatusUnprocessableEntity, again)
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, "The member is added. Their profile can be filled in here.")
	return c.Redirect(http.StatusSeeOther, memberPath(u.ID))
}

func commas(entries []string) string { return strings.Join(entries, ", ") }

// splitAt takes a list apart that was typed with a separator.
func splitAt(text, separators string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(separators, r) })
}

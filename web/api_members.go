package web

import (
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
)

// memberView is a person as the API shows them.
type memberView struct {
	ID             string     `json:"id"`
	Email          string     `json:"email"`
	Name           string     `json:"name"`
	Role           string     `json:"role"`
	Title          string     `json:"title"`
	Domains        []string   `json:"domains"` // none: all
	Languages      []string   `json:"languages"`
	Qualifications []string   `json:"qualifications"`
	Conflicts      []string   `json:"conflicts"`
	TimeZone       string     `json:"time_zone"` // empty: UTC
	Holds          int        `json:"holds"`
	CreatedAt      time.Time  `json:"created_at"`
	DisabledAt     *time.Time `json:"disabled_at,omitempty"`
}

func (s *Server) apiListMembers(c echo.Context) error {
	members, err := s.cfg.Store.Members(c.Request().Context(), user(c).Actor())
	if err != nil {
		return err
	}
	list := make([]memberView, len(members))
	for i, m := range members {
		list[i] = memberView{
			ID: m.ID, Email: m.Email, Name: m.Name, Role: string(m.Role), Title: m.Profile.Title, Domains: orNone(m.Profile.Domains),
			Languages: orNone(m.Profile.Languages), Qualifications: orNone(m.Profile.Qualifications), Conflicts: orNone(m.Profile.Conflicts),
			TimeZone: m.Profile.TimeZone, Holds: m.Holds, CreatedAt: m.CreatedAt, DisabledAt: m.DisabledAt,
		}
	}
	return c.JSON(http.StatusOK, map[string]any{"members": list})
}

// orNone writes no entries as [].
func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// Config of a server. Store, Harness and SessionKey are required.
type Config struct {
	Store *store.Store
	// Harness is the one of a project, with the judges that it uses now.
	Harness func(ctx context.Context, project string) (*harness.Harness, error)
	// Endpoints are where this server can ask models, the default one first. Nil:
	// it has only engines without a network.
	Endpoints []Endpoint
	// Price is what a model costs at an endpoint, by its name; nil: none is known.
	Price func(endpoint, model string) store.Price
	// Markers finds a citation marker, its first group the id; nil: the default
	// form. The judge citations has the same.
	Markers *regexp.Regexp
	// Project whose pages are shown until a person chooses another one.
	Project string
	// BaseURL is how people reach the server; an https one makes cookies secure.
	BaseURL string
	// SessionKey signs the session cookie and the demo links: 32 bytes or more.
	SessionKey []byte
	// Demo turns on one-click sign-in links, for a throw-away folder only.
	Demo bool
	// Logger gets one line for each fault of ours; never a trace's content.
	Logger *slog.Logger
	// Now is the clock; nil means the store's, by which leases and due dates are
	// kept: that of this machine may differ.
	Now func() time.Time
	// MaxBody is the largest body of an import in bytes; 0 means 64 MiB. Other
	// requests have at most 4 MiB.
	MaxBody int64
	// Wake tells the judging worker that new work was queued; may be nil.
	Wake func()
	// Version of the program, for pages and the API's description.
	Version string
}

// Endpoint is where a server can ask models.
type Endpoint struct {
	Name  string // as the configuration calls it; empty: the default one
	Host  string // without path, query or key
	Model string // that is asked where nobody names one; empty: none is configured
}

// Server is an http.Handler for everything under one address.
type Server struct {
	cfg          Config
	echo         *echo.Echo
	compressed   http.Handler // echo, its answers compressed
	sessions     *sessions.CookieStore
	listeners    *listeners
	sheets       *sheets
	comfortEvery time.Duration
}

// New checks the configuration and builds the routes.
func New(cfg Config) (*Server, error) {
	if cfg.Store == nil || cfg.Harness == nil {
		return nil, errors.New("web: a store and a harness are needed")
	}
	if len(cfg.SessionKey) < 32 {
		return nil, fmt.Errorf("web: the session key has %d bytes; it needs at least 32", len(cfg.SessionKey))
	}
	if cfg.Project == "" {
		cfg.Project = "default"
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = cfg.Store.Now
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = 64 << 20
	}
	if cfg.Wake == nil {
		cfg.Wake = func() {}
	}
	s := &Server{cfg: cfg, echo: echo.New(), sessions: newCookieStore(cfg), sheets: newSheets(), comfortEvery: comfortEvery}
	s.listeners = newListeners(cfg.Store, cfg.Now, func(err error) {
		cfg.Logger.Error("no news for open pages", "error", err.Error())
	})
	s.echo.HideBanner, s.echo.HidePort = true, true
	s.echo.HTTPErrorHandler = s.answerError
	s.echo.Use(s.recovered, middleware.RequestID(), s.securityHeaders, s.bounded)
	s.routes()
	var err error
	if s.compressed, err = compressing(s.echo); err != nil {
		return nil, err
	}
	return s, nil
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.mayCompress(r) {
		s.compressed.ServeHTTP(w, r)
		return
	}
	s.echo.ServeHTTP(w, r)
}

// recovered turns a panic into a 500 with an id, so that one bad request can't
// end the process for everybody.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				if p == http.ErrAbortHandler {
					panic(p)
				}
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		return next(c)
	}
}

// Routes lists what the server answers, as "METHOD /path/{parameter}".
func (s *Server) Routes() []string {
	var all []string
	for _, r := range s.echo.Routes() {
		parts := strings.Split(r.Path, "/")
		for i, p := range parts {
			if name, ok := strings.CutPrefix(p, ":"); ok {
				parts[i] = "{" + name + "}"
			}
		}
		all = append(all, r.Method+" "+strings.Join(parts, "/"))
	}
	return all
}

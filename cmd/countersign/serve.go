package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/web"
	"github.com/countersign/countersign/web/webhook"
)

// addrFlag is where a server listens.
type addrFlag struct {
	Addr string `help:"Address to listen on." default:"127.0.0.1:8080" env:"COUNTERSIGN_ADDR" config:"addr"`
}

type serveCmd struct {
	addrFlag
	projectFlags
	judgesFlag
	engineFlags
	OpenAIBaseURL string `name:"openai-base-url" help:"Address of an OpenAI-compatible endpoint." placeholder:"URL" env:"OPENAI_BASE_URL" config:"openai_base_url"`
	BaseURL       string `name:"base-url" help:"Address under which people reach the server (default: where it listens). An https one makes cookies secure." placeholder:"URL" env:"COUNTERSIGN_BASE_URL" config:"base_url"`
	webhookFlags
	SessionKeyFile string `help:"File with the key that signs sessions, 32 bytes or more; else COUNTERSIGN_SESSION_KEY, else one is made and kept." placeholder:"FILE" env:"COUNTERSIGN_SESSION_KEY_FILE" config:"session_key_file"`
}

// Run serves until it is told to stop.
func (c serveCmd) Run(ctx context.Context, s *state) (err error) {
	own, err := c.own()
	if err != nil {
		return err
	}
	builtins, err := c.builtins(s)
	if err != nil {
		return err
	}
	engines, err := c.engineFlags.engines(s, c.OpenAIBaseURL)
	if err != nil {
		return err
	}
	given, err := c.sessionKey(s)
	if err != nil {
		return err
	}
	messages, err := c.sender(s)
	if err != nil {
		return err
	}
	db, err := c.openWaiting(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	project, err := db.EnsureProject(ctx, s.operator(), c.Project)
	if err != nil {
		return err
	}
	judges, err := newHarnesses(ctx, s, db, builtins, engines)
	if err != nil {
		return err
	}
	if _, err := judges.with(ctx, project, own); err != nil {
		return err
	}
	users, err := db.Users(ctx, s.operator())
	if err != nil {
		return err
	}
	service := service{
		state: s, db: db, judges: judges, project: project.Name, addr: c.Addr, baseURL: c.BaseURL,
		sessionKey: given, concurrency: c.Concurrency, markers: s.settings.markers, messages: messages,
	}
	return service.run(ctx, func(_ context.Context, address string, _ *web.Server) error {
		s.say("countersign serves %s; database %s; judging by %s", address, db.Place(), engines)
		if len(users) == 0 {
			s.say("nobody can sign in yet: add a person with `countersign user add EMAIL --role admin --password-stdin`")
		}
		return nil
	})
}

// sessionKey is the key that the operator gives; empty means the stored one.
func (c serveCmd) sessionKey(s *state) ([]byte, error) {
	key := []byte(s.env("COUNTERSIGN_SESSION_KEY"))
	if c.SessionKeyFile != "" {
		var err error
		if key, err = os.ReadFile(c.SessionKeyFile); err != nil {
			return nil, usagef("the session key: %w", err)
		}
		key = []byte(strings.TrimSpace(string(key)))
	}
	if len(key) > 0 && len(key) < 32 {
		return nil, usagef("the session key has %d bytes: give 32 or more, or none, and one is made and kept", len(key))
	}
	return key, nil
}

// service is a server with its judging worker, over one database.
type service struct {
	state       *state
	db          *store.Store
	judges      *harnesses
	project     string
	addr        string
	baseURL     string // empty: where it listens
	sessionKey  []byte // empty: the stored one
	concurrency int
	markers     *regexp.Regexp // of citations; nil: the default form
	demo        bool
	messages    *webhook.Sender // to another system; nil: none has an address
}

// shutdownGrace is how long requests under way may take when the server stops.
const shutdownGrace = 15 * time.Second

// run listens, calls ready, and serves and judges until ctx ends. Requests and
// evaluations under way are finished first.
func (v service) run(ctx context.Context, ready func(ctx context.Context, address string, w *web.Server) error) error {
	key := v.sessionKey
	if len(key) == 0 {
		var err error
		if key, err = secret(ctx, v.db, "session_key"); err != nil {
			return err
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", v.addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w: free the address, or choose another with --addr", v.addr, err)
	}
	defer listener.Close()
	address := v.baseURL
	if address == "" {
		address = "http://" + listener.Addr().String()
	}
	woken := make(chan struct{}, 1)
	wake := func() {
		select {
		case woken <- struct{}{}:
		default: // it is awake
		}
	}
	site, err := web.New(web.Config{
		Store: v.db, Harness: v.judges.of, Project: v.project, BaseURL: strings.TrimSuffix(address, "/"),
		Endpoints: v.judges.engines.endpoints(), Price: v.judges.engines.priceAt, Markers: v.markers,
		SessionKey: key, Demo: v.demo, Logger: v.state.log, Now: v.state.now, Version: programVersion(),
		Wake: wake,
	})
	if err != nil {
		return err
	}
	if err := ready(ctx, address, site); err != nil {
		return err
	}
	return v.work(ctx, listener, site, woken, wake)
}

func (v service) work(ctx context.Context, listener net.Listener, site *web.Server, woken <-chan struct{}, wake func()) error {
	server := &http.Server{
		Handler:           site,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       5 * time.Minute, // an import may be large and its sender slow
		WriteTimeout:      5 * time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(v.state.log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(site.EndStreams) // they end by themselves only when the reader goes
	worker, err := v.judges.worker(v.concurrency, "")
	if err != nil {
		return err
	}
	worker.Wake = woken
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return worker.Run(ctx) })
	group.Go(func() error { return v.judges.keepRerunning(ctx, wake) })
	group.Go(func() error { return keepUp(ctx, v.state, v.db) })
	group.Go(func() error { return keepWatching(ctx, v.state, v.db) })
	group.Go(func() error { return v.judges.keepSentinels(ctx) })
	group.Go(func() error { return keepLooks(ctx, v.state, v.db) })
	group.Go(func() error { return keepTrust(ctx, v.state, v.db) })
	if v.messages != nil {
		sender := *v.messages
		sender.Outbox = v.db
		group.Go(func() error { return sender.Run(ctx) })
	}
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
		defer cancel()
		if err := server.Shutdown(late); err != nil {
			return errors.Join(fmt.Errorf("stop the server: %w", err), server.Close())
		}
		writeLooks(late, v.state, v.db)
		return nil
	})
	if v.state.listening != nil {
		v.state.listening(listener.Addr().String())
	}
	return group.Wait()
}

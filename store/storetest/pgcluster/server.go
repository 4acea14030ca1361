package pgcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is one run of the program postgres.
type server struct {
	process *os.Process
	exited  chan struct{} // closed when the process is gone
	ended   string        // how it ended; to be read after exited
}

// errStillInUse is what a server says that is started while processes of the
// killed one before it are still ending.
var errStillInUse = errors.New("the data is still in use")

func (c *Cluster) running() bool {
	if c.server == nil {
		return false
	}
	select {
	case <-c.server.exited:
		return false
	default:
		return true
	}
}

// start starts the server and waits until it answers.
func (c *Cluster) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		err := c.startOnce(ctx)
		if err == nil {
			c.killed = false
		}
		if !errors.Is(err, errStillInUse) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

func (c *Cluster) startOnce(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(c.folder, "log"), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("open the server's log: %w", err)
	}
	defer log.Close()
	before, err := log.Stat()
	if err != nil {
		return fmt.Errorf("look at the server's log: %w", err)
	}
	if c.server, err = c.launch(log); err != nil {
		return fmt.Errorf("launch postgres: %w", err)
	}
	if err := c.ready(ctx); err != nil {
		said := make([]byte, 64<<10)
		n, readErr := log.ReadAt(said, before.Size())
		if n == 0 && readErr != nil {
			return fmt.Errorf("%w (its log: %w)", err, readErr)
		}
		if bytes.Contains(said[:n], []byte("is still in use")) {
			return fmt.Errorf("%w: %w\n%s", errStillInUse, err, said[:n])
		}
		return fmt.Errorf("%w; the server's log:\n%s", err, said[:n])
	}
	return nil
}

func (c *Cluster) launch(log *os.File) (*server, error) {
	args := []string{"-D", c.data(), "-c", "unix_socket_directories=" + c.folder}
	for _, s := range c.settings {
		args = append(args, "-c", s)
	}
	cmd := c.command("postgres", args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = c.account.mortal()
	s := &server{exited: make(chan struct{})}
	launched := make(chan error)
	go func() {
		// The server is told of its parent's death when the thread ends that
		// launched it, so that thread must stay as long as the server does.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		s.process = cmd.Process
		launched <- err
		if err != nil {
			return
		}
		_ = cmd.Wait() // the state says the same: nothing is copied from the process
		s.ended = cmd.ProcessState.String()
		close(s.exited)
	}()
	if err := <-launched; err != nil {
		return nil, err
	}
	return s, nil
}

// ready waits until the server answers, or has ended.
func (c *Cluster) ready(ctx context.Context) error {
	try := time.NewTicker(10 * time.Millisecond)
	defer try.Stop()
	for {
		conn, err := pgx.Connect(ctx, c.URL("postgres"))
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-c.server.exited:
			return fmt.Errorf("postgres ended before it answered (%s)", c.server.ended)
		case <-ctx.Done():
			return fmt.Errorf("postgres does not answer after %v: %w", patience, err)
		case <-try.C:
		}
	}
}

// stop sends the signal to a running server and waits until it is gone.
func (c *Cluster) stop(signal syscall.Signal) error {
	if !c.running() {
		return nil
	}
	if err := c.server.process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("send %v to postgres: %w", signal, err)
	}
	select {
	case <-c.server.exited:
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("postgres is still there %v after %v; it is killed now", patience, signal), c.server.process.Kill())
	}
}

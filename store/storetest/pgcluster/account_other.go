//go:build !linux

package pgcluster

import (
	"errors"
	"os"
	"syscall"
)

// account is who a server runs as: here whoever runs the tests.
type account struct{}

func serverAccount() (account, error) {
	if os.Getuid() == 0 {
		return account{}, errors.New("PostgreSQL does not run as root: run the tests as somebody else")
	}
	return account{}, nil
}

func (account) own(string) error { return nil }

func (account) attributes() *syscall.SysProcAttr { return nil }

// mortal is no more than attributes here: a server whose test process died
// ends when it finds its folder gone.
func (account) mortal() *syscall.SysProcAttr { return nil }

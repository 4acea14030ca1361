package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is who a server runs as: nil is whoever runs the tests.
// PostgreSQL refuses to run as root, so root lends it another account.
type account struct{ credential *syscall.Credential }

// serverAccount is the account postgres, or nobody, where root runs the tests.
func serverAccount() (account, error) {
	if os.Getuid() != 0 {
		return account{}, nil
	}
	u, err := user.Lookup("postgres")
	if unknown := user.UnknownUserError(""); errors.As(err, &unknown) {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return account{}, fmt.Errorf("find an account for PostgreSQL, which does not run as root: %w", err)
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("account %s: %w", u.Username, err)
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("account %s: %w", u.Username, err)
	}
	return account{&syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// own gives a folder to the account.
func (a account) own(folder string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(folder, int(a.credential.Uid), int(a.credential.Gid))
}

// attributes are those of a process that runs as the account.
func (a account) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential}
}

// mortal is attributes for a process that must end when this one dies: it is
// sent SIGQUIT, on which postgres ends at once.
func (a account) mortal() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: a.credential, Pdeathsig: syscall.SIGQUIT}
}

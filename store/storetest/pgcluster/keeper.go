package pgcluster

import (
	"fmt"
	"io"
	"os/exec"
)

// keeper is a shell that removes a cluster's folder when this process is done
// with it or has died, which it notices as the end of its input. A server that
// loses its folder ends by itself, within a minute on any system.
type keeper struct {
	folder string
	cmd    *exec.Cmd
	input  io.Closer
}

// A server that is just ending may still write, so removing is tried again.
const keeperScript = `trap '' HUP INT QUIT TERM
while read -r _; do :; done
for try in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$0" && exit 0; sleep 1; done
exit 1`

func keep(folder string, as account) (*keeper, error) {
	cmd := exec.Command("/bin/sh", "-c", keeperScript, folder)
	cmd.Dir = "/"
	cmd.SysProcAttr = as.attributes()
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("watch over %s: %w", folder, err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("watch over %s: %w", folder, err)
	}
	return &keeper{folder: folder, cmd: cmd, input: input}, nil
}

// remove removes the folder.
func (k *keeper) remove() error {
	if err := k.input.Close(); err != nil {
		return fmt.Errorf("remove %s: %w", k.folder, err)
	}
	if err := k.cmd.Wait(); err != nil {
		return fmt.Errorf("remove %s: %w", k.folder, err)
	}
	return nil
}

package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version is set by the linker of a release: -ldflags "-X main.version=1.2.3".
var version = ""

// programVersion is the release, else what the Go tool knows of the build.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

type versionCmd struct{}

// Run prints one line.
func (versionCmd) Run(s *state) error {
	_, err := fmt.Fprintf(s.stdout, "countersign %s %s %s/%s\n", programVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

//go:build !linux

package main

import (
	"errors"
	"os"
	"syscall"
)

// leash does nothing: only Linux ends a process with its parent. A harness
// that is killed with SIGKILL leaves its cluster running here.
func leash() error {
	return os.Unsetenv("DIES_WITH")
}

// become turns this process into another program.
func become(command []string) error {
	if len(command) == 0 {
		return errors.New("usage: controlplane exec PROGRAM ARGUMENTS")
	}
	return syscall.Exec(command[0], command, os.Environ())
}

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
)

// leash makes this process end when its parent does, however that ends: the
// kernel sends SIGKILL. DIES_WITH is the parent's process id; without it there
// is no leash.
//
// The kernel keeps the wish per thread and an exec keeps it for the calling
// one, hence the lock.
func leash() error {
	parent := os.Getenv("DIES_WITH")
	if parent == "" {
		return nil
	}
	os.Unsetenv("DIES_WITH")
	runtime.LockOSThread()
	_, _, failed := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	if failed != 0 {
		return fmt.Errorf("cannot ask to end with the parent: %w", failed)
	}
	if strconv.Itoa(os.Getppid()) != parent {
		return errors.New("the parent ended before its child began")
	}
	return nil
}

// become turns this process into another program, which keeps the leash.
func become(command []string) error {
	if len(command) == 0 {
		return errors.New("usage: controlplane exec PROGRAM ARGUMENTS")
	}
	return syscall.Exec(command[0], command, os.Environ())
}

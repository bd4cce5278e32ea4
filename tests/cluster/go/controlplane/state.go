package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"
	kubeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	apitest "k8s.io/cri-api/pkg/apis/testing"
)

// ending is when and how a container ends by itself.
type ending struct {
	After time.Duration
	Code  int32
}

func (e ending) reason() string {
	if e.Code == 0 {
		return "Completed"
	}
	return "Error"
}

var (
	sleeps = regexp.MustCompile(`\bsleep (\d+(?:\.\d+)?)\b`)
	exits  = regexp.MustCompile(`\bexit (\d+)\b`)
)

// endingOf reads the end out of a command: "sleep 5" ends well after five
// seconds, "sleep 5; exit 3" with code 3, "exit 1" at once, and every other
// command runs until it is stopped.
func endingOf(command string) (ending, bool) {
	sleep, exit := sleeps.FindStringSubmatch(command), exits.FindStringSubmatch(command)
	end := ending{}
	if sleep != nil {
		seconds, _ := strconv.ParseFloat(sleep[1], 64)
		end.After = time.Duration(seconds * float64(time.Second))
	}
	if exit != nil {
		code, _ := strconv.ParseInt(exit[1], 10, 32)
		end.Code = int32(code)
	}
	return end, sleep != nil || exit != nil
}

type savedState struct {
	BootID     string
	Sandboxes  map[string][]byte
	Containers map[string]savedContainer
}

type savedContainer struct {
	Status  []byte
	Sandbox string
	Ends    *ending
}

// save writes the state as a whole, so that a SIGKILL at any moment leaves
// the old one or the new one.
func (r *containerRuntime) save() {
	s := r.RuntimeService
	s.Lock()
	defer s.Unlock() // until the rename: two saves at once would share a file
	out := savedState{BootID: r.bootID, Sandboxes: map[string][]byte{}, Containers: map[string]savedContainer{}}
	for id, sandbox := range s.Sandboxes {
		out.Sandboxes[id], _ = proto.Marshal(&sandbox.PodSandboxStatus)
	}
	for id, container := range s.Containers {
		saved := savedContainer{Sandbox: container.SandboxID}
		saved.Status, _ = proto.Marshal(&container.ContainerStatus)
		if end, ok := r.ends[id]; ok {
			saved.Ends = &end
		}
		out.Containers[id] = saved
	}
	text, _ := json.Marshal(out)
	err := os.WriteFile(r.state+".new", text, 0o600)
	if err == nil {
		err = os.Rename(r.state+".new", r.state)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot keep the containers:", err)
	}
}

// load reads the state. After a boot with another boot id no container runs:
// each has exited with 255, as containerd reports it.
func (r *containerRuntime) load() error {
	text, err := os.ReadFile(r.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var in savedState
	if err := json.Unmarshal(text, &in); err != nil {
		return err
	}
	booted := in.BootID != r.bootID
	for id, status := range in.Sandboxes {
		sandbox := &apitest.FakePodSandbox{}
		if err := proto.Unmarshal(status, &sandbox.PodSandboxStatus); err != nil {
			return err
		}
		if booted {
			sandbox.State = kubeapi.PodSandboxState_SANDBOX_NOTREADY
		}
		r.RuntimeService.Sandboxes[id] = sandbox
	}
	for id, saved := range in.Containers {
		container := &apitest.FakeContainer{SandboxID: saved.Sandbox}
		if err := proto.Unmarshal(saved.Status, &container.ContainerStatus); err != nil {
			return err
		}
		if booted && container.State != kubeapi.ContainerState_CONTAINER_EXITED {
			exit(container, 255, "Unknown")
		}
		if saved.Ends != nil {
			r.ends[id] = *saved.Ends
		}
		r.RuntimeService.Containers[id] = container
	}
	return nil
}

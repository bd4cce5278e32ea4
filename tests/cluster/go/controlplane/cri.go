package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	kubeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	apitest "k8s.io/cri-api/pkg/apis/testing"
	fakeremote "k8s.io/cri-client/pkg/fake"
	"k8s.io/cri-client/pkg/util"
)

// containerRuntime runs nothing, and says that it does. It is a process of
// its own, as containerd is, so that containers outlive a kubelet. Its state
// on disk outlives its own end (state.go).
type containerRuntime struct {
	*fakeremote.RemoteRuntime
	state  string
	bootID string
	ends   map[string]ending // by container, guarded by the RuntimeService's lock
}

// runCRI serves the container runtime on a unix socket.
func runCRI() error {
	endpoint := flag.String("endpoint", "", "where to listen, unix:///...")
	state := flag.String("state", "", "file that keeps the containers")
	bootID := flag.String("boot-id", "", "boot id of the kernel")
	control := flag.String("control", "", "folder with control files exit-NAMESPACE_POD")
	flag.Parse()

	r := &containerRuntime{
		RemoteRuntime: fakeremote.NewFakeRemoteRuntime(),
		state:         *state,
		bootID:        *bootID,
		ends:          map[string]ending{},
	}
	if err := r.load(); err != nil {
		return err
	}
	r.RuntimeService.FakeStatus = &kubeapi.RuntimeStatus{Conditions: []*kubeapi.RuntimeCondition{
		{Type: kubeapi.RuntimeReady, Status: true}, {Type: kubeapi.NetworkReady, Status: true}}}
	listener, err := util.CreateListener(*endpoint)
	if err != nil {
		return err
	}
	go r.endContainers(*control)
	server := grpc.NewServer()
	kubeapi.RegisterRuntimeServiceServer(server, r)
	kubeapi.RegisterImageServiceServer(server, r)
	return server.Serve(listener)
}

// endContainers ends what is due by itself, and what a control file orders:
// exit-NAMESPACE_POD with "CODE REASON" ends the containers of that pod. An
// order for a pod that does not run yet waits until it does.
func (r *containerRuntime) endContainers(control string) {
	for ; ; time.Sleep(100 * time.Millisecond) {
		ended := r.endDue(time.Now())
		orders, _ := filepath.Glob(filepath.Join(control, "exit-*"))
		for _, order := range orders {
			var code int32
			var reason string
			text, _ := os.ReadFile(order)
			if n, _ := fmt.Sscan(string(text), &code, &reason); n != 2 {
				continue
			}
			if r.endPod(strings.TrimPrefix(filepath.Base(order), "exit-"), code, reason) {
				os.Remove(order)
				ended = true
			}
		}
		if ended {
			r.save()
		}
	}
}

func (r *containerRuntime) endDue(now time.Time) bool {
	r.RuntimeService.Lock()
	defer r.RuntimeService.Unlock()
	ended := false
	for id, end := range r.ends {
		c := r.RuntimeService.Containers[id]
		if c == nil {
			delete(r.ends, id)
		} else if running(c) && now.UnixNano() >= c.StartedAt+end.After.Nanoseconds() {
			exit(c, end.Code, end.reason())
			ended = true
		}
	}
	return ended
}

func (r *containerRuntime) endPod(pod string, code int32, reason string) bool {
	r.RuntimeService.Lock()
	defer r.RuntimeService.Unlock()
	ended := false
	for _, c := range r.RuntimeService.Containers {
		if running(c) && c.Labels["io.kubernetes.pod.namespace"]+"_"+c.Labels["io.kubernetes.pod.name"] == pod {
			exit(c, code, reason)
			ended = true
		}
	}
	return ended
}

func running(c *apitest.FakeContainer) bool {
	return c.State == kubeapi.ContainerState_CONTAINER_RUNNING
}

func exit(c *apitest.FakeContainer, code int32, reason string) {
	c.State, c.ExitCode, c.Reason = kubeapi.ContainerState_CONTAINER_EXITED, code, reason
	c.FinishedAt = time.Now().UnixNano()
}

func (r *containerRuntime) CreateContainer(ctx context.Context, q *kubeapi.CreateContainerRequest) (*kubeapi.CreateContainerResponse, error) {
	answer, err := r.RemoteRuntime.CreateContainer(ctx, q)
	if err != nil {
		return nil, err
	}
	command := strings.Join(append(q.Config.Command, q.Config.Args...), " ")
	if end, ok := endingOf(command); ok {
		r.RuntimeService.Lock()
		r.ends[answer.ContainerId] = end
		r.RuntimeService.Unlock()
	}
	return answer, nil
}

func (r *containerRuntime) StopContainer(ctx context.Context, q *kubeapi.StopContainerRequest) (*kubeapi.StopContainerResponse, error) {
	r.RuntimeService.Lock()
	if c := r.RuntimeService.Containers[q.ContainerId]; c != nil && running(c) {
		exit(c, 143, "Error") // ended by SIGTERM
	}
	r.RuntimeService.Unlock()
	answer, err := r.RemoteRuntime.StopContainer(ctx, q)
	r.save()
	return answer, err
}

func (r *containerRuntime) RunPodSandbox(ctx context.Context, q *kubeapi.RunPodSandboxRequest) (*kubeapi.RunPodSandboxResponse, error) {
	answer, err := r.RemoteRuntime.RunPodSandbox(ctx, q)
	r.save()
	return answer, err
}

func (r *containerRuntime) StartContainer(ctx context.Context, q *kubeapi.StartContainerRequest) (*kubeapi.StartContainerResponse, error) {
	answer, err := r.RemoteRuntime.StartContainer(ctx, q)
	r.save()
	return answer, err
}

func (r *containerRuntime) RemovePodSandbox(ctx context.Context, q *kubeapi.RemovePodSandboxRequest) (*kubeapi.RemovePodSandboxResponse, error) {
	answer, err := r.RemoteRuntime.RemovePodSandbox(ctx, q)
	r.save()
	return answer, err
}

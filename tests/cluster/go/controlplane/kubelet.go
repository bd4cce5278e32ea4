package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	noop "go.opentelemetry.io/otel/trace/noop"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	clientset "k8s.io/client-go/kubernetes"
	v1core "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	apitest "k8s.io/cri-api/pkg/apis/testing"
	remote "k8s.io/cri-client/pkg"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

// kubeletFlags are what a test chooses about one machine and its kubelet.
type kubeletFlags struct {
	node, kubeconfig, cri      string
	root, control              string
	providerID, labels, taints string
	reserved                   string
	port, maxPods, gpus        int
	statusEvery                time.Duration
	noEvents                   bool
	machine                    machine
}

func parseKubeletFlags() *kubeletFlags {
	f := &kubeletFlags{}
	memoryGiB := 0
	flag.StringVar(&f.node, "node", "", "node name")
	flag.StringVar(&f.kubeconfig, "kubeconfig", "", "kubeconfig of the node's user")
	flag.IntVar(&f.port, "port", 0, "port of the kubelet on 127.0.0.1")
	flag.StringVar(&f.cri, "cri", "", "endpoint of the container runtime, unix:///...")
	flag.StringVar(&f.root, "root", "", "folder for the kubelet's own files")
	flag.StringVar(&f.control, "control", "", "folder with the control file gpu-allocatable")
	flag.StringVar(&f.machine.bootID, "boot-id", "", "boot id of the kernel")
	flag.StringVar(&f.machine.machineID, "machine-id", "", "machine id")
	flag.StringVar(&f.machine.systemUUID, "system-uuid", "", "system UUID")
	flag.StringVar(&f.machine.kernelVersion, "kernel-version", "6.8.0-79-generic", "kernel version")
	flag.StringVar(&f.machine.osImage, "os-image", "Ubuntu 24.04.3 LTS", "operating system")
	flag.StringVar(&f.providerID, "provider-id", "", "spec.providerID")
	flag.StringVar(&f.labels, "labels", "", "labels to register with, k=v,k=v")
	flag.StringVar(&f.taints, "taints", "", "taints to register with, k=v:Effect,k=v:Effect")
	flag.IntVar(&f.machine.cores, "cores", 128, "processor cores")
	flag.IntVar(&memoryGiB, "memory-gib", 2048, "memory in GiB")
	flag.IntVar(&f.gpus, "gpus", 8, "GPUs; -1 for a machine without a device plugin")
	flag.StringVar(&f.reserved, "reserved", "", "kept from allocatable, cpu=2,memory=8Gi")
	flag.IntVar(&f.maxPods, "max-pods", 110, "how many pods fit")
	flag.DurationVar(&f.statusEvery, "status-every", 10*time.Second, "how often the node's status is computed")
	flag.BoolVar(&f.noEvents, "no-events", false, "record no Events, as with an unreachable sink")
	flag.Parse()
	f.machine.NodeName = f.node
	f.machine.memory = uint64(memoryGiB) << 30
	return f
}

// runKubelet is the real kubelet in the form that kubemark gives it, over a
// container runtime in another process, with real Events.
func runKubelet() error {
	f := parseKubeletFlags()
	config, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	if err != nil {
		return err
	}
	manager, err := f.containerManager()
	if err != nil {
		return err
	}
	taints, err := parseTaints(f.taints)
	if err != nil {
		return err
	}
	ctx := context.Background()
	runtime, err := remote.NewRemoteRuntimeService(ctx, f.cri, 15*time.Second, noop.NewTracerProvider(), false)
	if err != nil {
		return err
	}

	flags, settings := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName: f.node, KubeletPort: f.port, MaxPods: f.maxPods, NodeLabels: f.nodeLabels(), RegisterWithTaints: taints})
	if err := f.moveRoot(flags, settings); err != nil {
		return err
	}
	settings.Address = "127.0.0.1"
	settings.ClusterDNS = []string{"10.0.0.10"}
	settings.NodeStatusUpdateFrequency.Duration = f.statusEvery
	if f.providerID != "" {
		settings.ProviderID = f.providerID
	}

	client := clientset.NewForConfigOrDie(config)
	kubelet := kubemark.NewHollowKubelet(flags, settings, client, heartbeats(config),
		&f.machine, apitest.NewFakeImageService(), runtime, manager)
	if !f.noEvents {
		// kubemark's own recorder drops every Event.
		broadcaster := record.NewBroadcaster()
		broadcaster.StartRecordingToSink(&v1core.EventSinkImpl{Interface: client.CoreV1().Events("")})
		kubelet.KubeletDeps.Recorder = broadcaster.NewRecorder(
			legacyscheme.Scheme, v1.EventSource{Component: "kubelet", Host: f.node})
	}
	kubelet.Run(ctx)
	return nil
}

// moveRoot takes the kubelet's files out of the folder in /tmp that kubemark
// makes at every start and never removes.
func (f *kubeletFlags) moveRoot(flags *options.KubeletFlags, settings *kubeletconfig.KubeletConfiguration) error {
	if err := os.RemoveAll(flags.RootDirectory); err != nil {
		return err
	}
	flags.RootDirectory = f.root
	settings.StaticPodPath = filepath.Join(f.root, "static-pods")
	settings.PodLogsDir = filepath.Join(f.root, "pod-logs")
	for _, folder := range []string{settings.StaticPodPath, settings.PodLogsDir} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// heartbeats is the kubelet's second client: without a rate limit, and with a
// timeout, so that a stuck request cannot cost a Lease.
func heartbeats(config *rest.Config) *clientset.Clientset {
	own := *config
	own.QPS = -1
	own.Timeout = 10 * time.Second
	return clientset.NewForConfigOrDie(&own)
}

func (f *kubeletFlags) containerManager() (cm.ContainerManager, error) {
	reserved := v1.ResourceList{}
	for name, amount := range pairs(f.reserved) {
		quantity, err := resource.ParseQuantity(amount)
		if err != nil {
			return nil, fmt.Errorf("-reserved %s=%s: %w", name, amount, err)
		}
		reserved[v1.ResourceName(name)] = quantity
	}
	return &devices{
		ContainerManager: cm.NewStubContainerManagerWithDevicePluginResource(gpus(f.gpus)),
		gpus:             f.gpus,
		healthy:          filepath.Join(f.control, "gpu-allocatable"),
		reserved:         reserved,
	}, nil
}

func (f *kubeletFlags) nodeLabels() map[string]string {
	labels := pairs(f.labels)
	labels["kubernetes.io/hostname"] = f.node
	return labels
}

func parseTaints(text string) ([]v1.Taint, error) {
	var taints []v1.Taint
	for _, part := range strings.Split(text, ",") {
		if part == "" {
			continue
		}
		what, effect, found := strings.Cut(part, ":")
		if !found {
			return nil, fmt.Errorf("-taints %s: no effect", part)
		}
		key, value, _ := strings.Cut(what, "=")
		taints = append(taints, v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)})
	}
	return taints, nil
}

func pairs(text string) map[string]string {
	found := map[string]string{}
	for _, part := range strings.Split(text, ",") {
		if key, value, ok := strings.Cut(part, "="); ok {
			found[key] = value
		}
	}
	return found
}

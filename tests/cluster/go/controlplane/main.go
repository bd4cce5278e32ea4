// Controlplane is a real Kubernetes in one program: by its first argument it
// is one of the components below. One binary is one build and one cache entry
// instead of eight, and most of what they link is the same code.
//
// The components run as separate processes. In one process they cannot:
// each installs the signal handler of its own, and the second one panics.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/etcdutl/v3/etcdutl"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

// components are the programs that this one can be. Those of Kubernetes and
// etcd are as released; kubelet and cri are described beside their code; exec
// is any other program, on the same leash.
var components = map[string]func(){
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"etcdutl":                 runEtcdutl,
	"kube-apiserver":          func() { os.Exit(cli.Run(apiserver.NewAPIServerCommand())) },
	"kube-controller-manager": func() { os.Exit(cli.Run(controllers.NewControllerManagerCommand())) },
	"kube-scheduler":          func() { os.Exit(cli.Run(scheduler.NewSchedulerCommand())) },
	"kubectl":                 func() { os.Exit(cli.Run(kubectl.NewDefaultKubectlCommand())) },
	"kubelet":                 func() { exitOn(runKubelet()) },
	"cri":                     func() { exitOn(runCRI()) },
	"exec":                    func() { exitOn(become(os.Args[1:])) },
}

func main() {
	names := strings.Join(slices.Sorted(maps.Keys(components)), "|")
	if len(os.Args) < 2 {
		fmt.Fprintf(os.Stderr, "usage: controlplane %s ARGUMENTS\n", names)
		os.Exit(2)
	}
	run, found := components[os.Args[1]]
	if !found {
		fmt.Fprintf(os.Stderr, "no component %q, there are %s\n", os.Args[1], names)
		os.Exit(2)
	}
	exitOn(leash())
	os.Args = os.Args[1:]
	run()
}

// runEtcdutl takes the one command of etcdutl that a restore needs; its main
// package, which would have them all, cannot be imported.
func runEtcdutl() {
	command := &cobra.Command{Use: "etcdutl"}
	command.PersistentFlags().StringVarP(&etcdutl.OutputFormat, "write-out", "w", "simple", "output format")
	command.AddCommand(etcdutl.NewSnapshotCommand())
	exitOn(command.Execute())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

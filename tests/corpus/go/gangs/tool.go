//go:build tool

// Package gangs pins the operators of gangs, as one module: they share one
// Kubernetes, which is then built once.
package gangs

import (
	_ "github.com/kubeflow/mpi-operator/cmd/mpi-operator"
	_ "github.com/kubeflow/trainer/v2/cmd/trainer-controller-manager"
	_ "github.com/kubeflow/training-operator/cmd/training-operator.v1"
	_ "github.com/ray-project/kuberay/ray-operator"
	_ "sigs.k8s.io/lws/cmd"
)

//go:build tool

// Package kwok pins kwok, which plays thousands of nodes where real kubelets
// would be too many. It is a module of its own because its Kubernetes is not
// the one of the control plane.
package kwok

import _ "sigs.k8s.io/kwok/cmd/kwok"

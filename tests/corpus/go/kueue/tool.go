//go:build tool

// Package kueue pins the operator, as a module of its own: its Kubernetes is not
// the one of the control plane.
package kueue

import _ "sigs.k8s.io/kueue/cmd/kueue"

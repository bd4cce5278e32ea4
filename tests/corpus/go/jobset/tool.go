//go:build tool

// Package jobset pins the operator, as a module of its own: its Kubernetes is not
// the one of the control plane.
package jobset

import _ "sigs.k8s.io/jobset"

//go:build tool

// Package karpenter pins the operator, as a module of its own: its Kubernetes is not
// the one of the control plane.
package karpenter

import _ "sigs.k8s.io/karpenter/kwok"

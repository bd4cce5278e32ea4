//go:build tool

// Package npd pins node-problem-detector, as a module of its own: its
// Kubernetes is not the one of the control plane.
package npd

import _ "k8s.io/node-problem-detector/cmd/nodeproblemdetector"

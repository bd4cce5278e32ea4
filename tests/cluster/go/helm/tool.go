//go:build tool

// Package helm pins Helm, with which the tests lint and render the chart as
// whoever installs it does. It is a module of its own because its Kubernetes
// is not the one of the control plane.
package helm

import _ "helm.sh/helm/v3/cmd/helm"

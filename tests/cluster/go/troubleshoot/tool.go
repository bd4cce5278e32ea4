//go:build tool

// Package troubleshoot pins the collector of support bundles, which the tests
// run against their cluster.
package troubleshoot

import _ "github.com/replicatedhq/troubleshoot/cmd/troubleshoot"

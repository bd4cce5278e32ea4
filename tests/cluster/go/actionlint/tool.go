//go:build tool

// Package actionlint pins actionlint, which checks the workflows of releases.
package actionlint

import _ "github.com/rhysd/actionlint/cmd/actionlint"

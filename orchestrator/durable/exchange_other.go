//go:build !linux

package durable

import "errors"

// exchange is supported on Linux only.
func exchange(string, string) error { return errors.ErrUnsupported }

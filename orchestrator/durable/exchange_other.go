//go:build !linux

package durable

import "errors"

// exchange is Linux's.
func exchange(string, string) error { return errors.ErrUnsupported }

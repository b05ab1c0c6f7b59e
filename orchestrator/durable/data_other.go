//go:build !linux

package durable

import "os"

// SyncData makes the bytes and the length of f durable.
func SyncData(f *os.File) error { return f.Sync() }

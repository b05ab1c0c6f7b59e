//go:build !linux

package main

// hide is for Linux only.
func hide() error { return nil }

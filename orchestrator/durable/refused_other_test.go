//go:build !linux

package durable

func callRefused(string) {}

//go:build !linux

package durable

import "os"

func isMountPoint(string) bool { return false }

func fixedAttribute(string) (name, option string) { return "", "" }

func mayActAsOwner() bool { return os.Geteuid() == 0 }

// copyAttributes copies none: the lists of access of other systems are not known here.
func copyAttributes(string, string, bool) (kept bool, err error) { return true, nil }

func lostAttributes(string, string) []string { return nil }

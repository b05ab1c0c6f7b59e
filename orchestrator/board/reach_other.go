//go:build !linux

package board

import (
	"io/fs"
	"os"
)

func identity(info fs.FileInfo) any { return info }

func sameFile(a, b *found) bool { return os.SameFile(a.id.(fs.FileInfo), b.id.(fs.FileInfo)) }

// defaultWay is how the work directory is entered on this system.
func defaultWay() func(*Place) (reach, error) { return enterRoot }

package main

import "testing"

// TestGarbagePercent: many boards and large ones leave less garbage than a board that people have.
func TestGarbagePercent(t *testing.T) {
	for _, tt := range []struct {
		boards int
		size   int64
		want   int
	}{{1, 4 << 10, 200}, {75, 100 << 10, 200}, {1, 350 << 10, 100}, {200, 40 << 10, 75}, {1000, 200 << 10, 15}, {5000, 1 << 20, 15}} {
		if got := garbagePercent(tt.boards, tt.size); got != tt.want {
			t.Errorf("garbagePercent(%d, %d) = %d, want %d", tt.boards, tt.size, got, tt.want)
		}
	}
}

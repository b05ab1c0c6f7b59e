//go:build !race

package main

// raceEnabled: the race detector makes everything several times slower.
const raceEnabled = false

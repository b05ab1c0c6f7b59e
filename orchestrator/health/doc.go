// Package health judges a running agent by the signs that it gives: seed 000. It is pure: it reads
// no clock, no file and no process.
package health

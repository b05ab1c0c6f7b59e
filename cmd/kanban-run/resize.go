package main

import (
	"os"
	"os/signal"
	"syscall"
)

// onResize returns a channel that gets a value when the size of the terminal changes. The function
// stop ends the watch.
func onResize() (resized <-chan struct{}, stop func()) {
	signals, told := make(chan os.Signal, 1), make(chan struct{}, 1)
	signal.Notify(signals, syscall.SIGWINCH)
	go func() {
		for range signals {
			select {
			case told <- struct{}{}:
			default:
			}
		}
	}()
	return told, func() {
		signal.Stop(signals)
		close(signals)
	}
}

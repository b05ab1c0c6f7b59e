package main

// onResize returns nil: this system has no signal for it.
func onResize() (resized <-chan struct{}, stop func()) { return nil, func() {} }

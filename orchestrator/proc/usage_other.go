//go:build !linux

package proc

// Usage is the use of resources by a command and its descendants, which this system does not
// report.
type Usage struct {
	Own, Others Work
	Halted      bool
}

// Work is the use of resources by processes.
type Work struct{ Ticks, Bytes int64 }

// Usage returns false, because this system does not report the use of resources.
func (p *Process) Usage() (u Usage, ok bool) { return Usage{}, false }

// Family returns nil, because this system does not list processes.
func (p *Process) Family() map[int]Relative { return nil }

// Continue does nothing.
func (p *Process) Continue() {}

// EndOthers does nothing.
func (p *Process) EndOthers(bool) {}

//go:build !linux

package proc

// Usage is what a command and its descendants have used so far. It is not known on this system.
type Usage struct {
	Own, Others Work
	Halted      bool
}

// Work is what processes have used.
type Work struct{ Ticks, Bytes int64 }

// Usage returns false: this system is not looked into.
func (p *Process) Usage() (u Usage, ok bool) { return Usage{}, false }

// Family is empty: this system is not looked into.
func (p *Process) Family() map[int]Relative { return nil }

// Continue does nothing.
func (p *Process) Continue() {}

// EndOthers does nothing.
func (p *Process) EndOthers(bool) {}

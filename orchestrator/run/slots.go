package run

// maxAtWork bounds the runs that work while the agents of all others do. A run that waits for the disk
// takes a thread of the system: a thousand runs would take a thousand.
const maxAtWork = 2

// DiskSlots bound how many runs of this process work at the same time.
type DiskSlots chan struct{}

// NewDiskSlots returns the slots that all runs of a process share.
func NewDiskSlots() DiskSlots { return make(DiskSlots, maxAtWork) }

// Acquire waits for a slot.
func (s DiskSlots) Acquire() { s <- struct{}{} }

// Release gives the slot back while the run waits.
func (s DiskSlots) Release() { <-s }

// With calls act in a slot.
func (s DiskSlots) With(act func() error) error {
	s.Acquire()
	defer s.Release()
	return act()
}

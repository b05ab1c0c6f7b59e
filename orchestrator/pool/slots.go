package pool

// maxAtWork is the greatest number of runs that use the disk at the same time. A run that waits for
// the disk occupies a thread of the system. Without this bound a thousand runs could occupy a
// thousand threads.
const maxAtWork = 2

// DiskSlots bounds how many runs of this process use the disk at the same time.
type DiskSlots chan struct{}

func newDiskSlots() DiskSlots { return make(DiskSlots, maxAtWork) }

// Acquire waits for a slot.
func (s DiskSlots) Acquire() { s <- struct{}{} }

// Release gives a slot back.
func (s DiskSlots) Release() { <-s }

// With acquires a slot, calls the function act, and releases the slot.
func (s DiskSlots) With(act func() error) error {
	s.Acquire()
	defer s.Release()
	return act()
}

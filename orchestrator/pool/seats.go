package pool

import "sync"

// Seats bounds the number of boards of this process that are at work at the same time (the
// setting "jobs"). A board that waits for a provider, or for another board's claim, leaves its
// seat. When it comes back, it gets the next free seat before any board that has not begun.
type Seats struct {
	mu   sync.Mutex
	free int
	back []chan struct{} // boards that come back, in order
	next []chan struct{} // boards that have not begun, in order
}

func newSeats(n int) *Seats { return &Seats{free: n} }

// Take waits until a board that has not begun gets a seat.
func (s *Seats) Take() { s.wait(&s.next) }

// ComeBack waits until a board that has left its seat gets one again.
func (s *Seats) ComeBack() { s.wait(&s.back) }

func (s *Seats) wait(queue *[]chan struct{}) {
	s.mu.Lock()
	if s.free > 0 {
		s.free--
		s.mu.Unlock()
		return
	}
	turn := make(chan struct{})
	*queue = append(*queue, turn)
	s.mu.Unlock()
	<-turn
}

// Leave gives the seat to the next board, or frees it.
func (s *Seats) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, queue := range []*[]chan struct{}{&s.back, &s.next} {
		if len(*queue) > 0 {
			close((*queue)[0])
			*queue = (*queue)[1:]
			return
		}
	}
	s.free++
}

// Without calls the function do while the board has left its seat.
func (s *Seats) Without(do func() error) error {
	s.Leave()
	defer s.ComeBack()
	return do()
}

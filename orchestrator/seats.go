package orchestrator

import "sync"

// seats bound the boards of this process that are at work, see the setting jobs. A board that waits for a
// provider or for the claim of another board leaves its seat, and takes the next free one before any board
// that has not begun.
type seats struct {
	mu   sync.Mutex
	free int
	back []chan struct{} // boards that come back, in order
	next []chan struct{} // boards that have not begun, in order
}

func newSeats(n int) *seats { return &seats{free: n} }

// take waits for a seat, for a board that has not begun.
func (s *seats) take() { s.wait(&s.next) }

// ComeBack waits for a seat, for a board that had one.
func (s *seats) ComeBack() { s.wait(&s.back) }

func (s *seats) wait(queue *[]chan struct{}) {
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

// Leave gives the seat to the next board.
func (s *seats) Leave() {
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

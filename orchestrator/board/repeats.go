package board

// repeats finds the paths that stand in a list twice. Most long lists ascend, which rules out
// repeats: the map is made at the first path that does not come after the one before it.
type repeats struct{ first map[string]int }

// find returns the index of the first path that equals path i. Call it for each path in turn.
func (r *repeats) find(paths []string, i int) (first int, twice bool) {
	if r.first == nil {
		if i == 0 || paths[i-1] < paths[i] {
			return 0, false
		}
		r.first = make(map[string]int, cap(paths))
		for j, p := range paths[:i] {
			r.first[p] = j
		}
	}
	if first, twice = r.first[paths[i]]; !twice {
		r.first[paths[i]] = i
	}
	return first, twice
}

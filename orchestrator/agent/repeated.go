package agent

import "bytes"

// worthLooking is from how many bytes on a list of tasks is looked for in the reply.
const worthLooking = 1 << 10

// parseRepeating is ParseReply for a reply that most likely repeats a long list of tasks, byte for byte as the Manager was given it.
// Then the list is taken out, so that what is read is short, and Tasks stays nil. given must be a list of paths that a board holds.
func parseRepeating(c Contract, raw, given []byte) (*Reply, *Failure) {
	if short, at, ok := withoutList(raw, given); ok && c == ManagerContract {
		reply, failure := ParseReply(c, short)
		if failure == nil && isTasks(short, at) {
			reply.SameTasks, reply.Tasks = true, nil
			return reply, nil
		}
	}
	return ParseReply(c, raw) // which also finds the right place for what is wrong
}

// withoutList puts an empty list in the place of the given one, at the offset that it returns.
func withoutList(raw, given []byte) (short []byte, at int, ok bool) {
	if len(given) < worthLooking || len(raw) > maxReply {
		return nil, 0, false
	}
	at = bytes.Index(raw, given[:worthLooking])
	if at < 0 || !bytes.HasPrefix(raw[at:], given) {
		return nil, 0, false
	}
	short = append(append(short, raw[:at]...), "[]"...)
	return append(short, raw[at+len(given):]...), at, true
}

// isTasks says whether the value at an offset of a valid reply is that of tasks: a list in another place is none of the contract's.
func isTasks(reply []byte, at int) bool {
	members, _ := readObject(string(reply))
	for _, m := range members {
		if m.key == "tasks" {
			return m.from == at
		}
	}
	return false
}

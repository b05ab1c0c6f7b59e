package claim

// MutexAt is the byte that a process locks while it writes a claim.
const MutexAt = mutexAt

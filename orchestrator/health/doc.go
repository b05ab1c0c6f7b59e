// Package health judges a running agent by the signs that it gives: seed 000. It is pure: it reads
// no clock, no file and no process.
//
// A [Trace] is the fold of an agent's signs. A [Monitor] looks at the Trace at regular intervals.
// [Assess] finds faults by the rows of seed 000's check table, and the Monitor chooses an action.
//
// Silence leads to a warning. Longer silence leads to an action, unless a call is open. A lack of
// progress (the check "ceiling") leads to an action, unless a command still does work. If the
// program does not report its work, silence and a lack of progress lead to an action only with
// Policy.SilentAgents. Before the last limit of a check is reached, a running agent is not ended
// for a lack of signs or progress.
package health

// Package health judges a running agent by the signs that it gives: seed 000. It is pure: it reads
// no clock, no file and no process.
//
// A [Trace] is the fold of an agent's signs. A [Monitor] looks at it in regular intervals: [Assess]
// finds what is wrong, in the rows of seed 000's check table, and the Monitor decides what to do
// about it. The law: silence warns, silence with evidence acts, a ceiling always acts. Nothing is
// ended before the second limit of its row.
package health

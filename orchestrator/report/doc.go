// Package report renders the events and the state of runs for people and for programs: plain lines,
// a live view for a terminal, JSON, Markdown, JUnit.
package report

// Package report renders runs for people and for programs: plain lines, a live view for a terminal,
// JSON. It writes to the io.Writers that it is given and knows nothing but the events of package
// flow.
package report

// Package page renders boards as one HTML file: `kanban-run report --html`. The file sends no
// request, it can be read without its script, and the same journals and boards give the same bytes.
// Strings of agents, boards and file names appear only as text: html/template escapes each string
// for its place, and a policy in the file allows only its own style and script, by hash. These
// strings are never part of a name, a class or an address.
//
//	[]Board ─► model.go, task.go: boards, tasks, steps, attempts as texts ─► page.html
//	           headline.go: is it done?    next.go: actions of a person
//	           waterfall.go: attempts on one axis of time (scale.go)    costs.go
//	           same.go: steps that differ in number and time only are one
package page

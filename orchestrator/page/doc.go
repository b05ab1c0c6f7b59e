// Package page renders boards as one HTML file: `kanban-run report --html`. No request leaves it,
// it can be read without its script, and the same journals and boards give the same bytes. All
// that agents, boards and file names say is text in it: html/template escapes each text for its
// place, and a policy in the file allows no style and no script but its own, by hash. No text is a
// part of a name, a class or an address.
//
//	[]Board ─► model.go, task.go: boards, tasks, steps, attempts as texts ─► page.html
//	           headline.go: is it done?    next.go: what a person does next    waterfall.go: attempts on one clock (scale.go)    costs.go
package page

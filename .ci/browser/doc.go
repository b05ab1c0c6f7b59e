// Package browser has no code of its own: its tests look at the pages of kanban-run in Chromium. It
// is a module of its own, so that no build of kanban-run needs the packages that drive a browser.
//
//	make test-browser
package browser

// Package browser has no code of its own: its tests look at the pages of kanban-run in Chromium.
// It is a module, so that no build of kanban-run needs what drives a browser.
//
//	make test-browser
package browser

package main

import (
	"slices"

	"kanban-run/orchestrator/asked"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/projection"
)

// askedIn returns what waits for a person in the work trees of the folders.
func askedIn(dirs []string) (all []asked.Item) {
	seen := map[string]bool{}
	for _, dir := range dirs {
		if dir == "" { // the board was never run
			continue
		}
		for _, i := range asked.Waiting(dir) {
			if key := i.File + "\x00" + i.Field + "\x00" + i.SHA; !seen[key] {
				seen[key] = true
				all = append(all, i)
			}
		}
	}
	return all
}

// printAsked prints what waits for a person in work trees, with the command that settles it.
func (t *terminal) printAsked(out *console.Printer, dirs []string) error {
	items := askedIn(dirs)
	for _, i := range items {
		if err := out.Printf("waits for you: %s\n", i.Words); err != nil {
			return err
		}
	}
	if items == nil {
		return nil
	}
	return out.Printf("if that was you: %s; %s shows the difference\n", asked.Command, "kanban-run ack --here")
}

// workdirs returns the current folder and the work directories of boards.
func workdirs(dir string, boards []*projection.Board) []string {
	dirs := []string{dir}
	for _, b := range boards {
		if b.Workdir != "" {
			dirs = append(dirs, b.Workdir)
		}
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// askedDocument returns what waits in work trees, for JSON.
func askedDocument(dirs []string) (all []projection.Asked) {
	for _, i := range askedIn(dirs) {
		all = append(all, projection.Asked{By: i.By, File: i.File, Field: i.Field, Said: i.Words, Command: asked.Command})
	}
	return all
}

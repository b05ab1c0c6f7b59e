package board

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"kanban-run/orchestrator/checkpoint"
	"kanban-run/orchestrator/frontmatter"
)

// readCheckpoints reads the field "checkpoints". It spells the tasks of this field as the list
// does. It accepts a task that is not listed, because the Manager can remove a task from the list
// during a run.
func (b *Board) readCheckpoints() (err error) {
	_, node := b.doc.Field("checkpoints")
	if node == nil {
		return nil
	}
	b.Checkpoints, b.CheckpointsOff, err = checkpoint.Parse(b.doc, node)
	if b.Checkpoints == nil || len(b.Checkpoints.At) == 0 {
		return err
	}
	listed := make(map[string]string, b.Len())
	for _, path := range b.TaskPaths() {
		listed[cleanPath(path)] = path
	}
	for task, n := range checkpoint.Tasks(b.Checkpoints, node) {
		*task, _ = splitState(*task)
		if path, ok := listed[cleanPath(*task)]; ok {
			*task = path
		} else {
			b.unlisted = append(b.unlisted, n)
		}
	}
	return nil
}

// CheckCheckpoints returns an error for each task of a checkpoint that is not on the board's list.
// Such a checkpoint would never be due, or would have nothing to look at.
func (b *Board) CheckCheckpoints() (found []*frontmatter.Problem) {
	for _, n := range b.unlisted {
		path, _ := splitState(n.Value)
		text := fmt.Sprintf("checkpoints: the task %q is not in the list of tasks", path)
		found = append(found, b.doc.Problem(n, text,
			"add it to tasks, or correct it"))
	}
	return found
}

// CheckpointsProblem adds a place to an error about a key in the field "checkpoints". The place is
// that of the key's value, or that of the field if the key is missing. An error that already has a
// place keeps it.
func (b *Board) CheckpointsProblem(name string, err error) error {
	at, node := b.doc.Field("checkpoints")
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if node.Content[i].Value == name {
			at = node.Content[i+1]
		}
	}
	return addPlace(err, b.doc.Problem(at, "checkpoints: ", ""))
}

func (c *checker) checkCheckpoints() {
	b := c.board
	for _, p := range b.CheckCheckpoints() {
		c.add(b.Terminal(), p)
	}
	if s := b.Checkpoints; s != nil && !c.place.knows(s.Role) {
		c.add(b.Terminal(), b.CheckpointsProblem("role", &unknownRole{s.Role}))
	}
}

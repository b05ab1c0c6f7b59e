// Package clone makes and keeps the clone in which the agents of a board work, while board, tasks, journal
// and settings stay at home, in the checkout.
//
//	make:    under another name: git clone, no remote, references, settings, files ─► id ─► renamed
//	         ─► CLONE_MADE ─► .worktreeinclude ─► setup ─► CLONE_READY
//	a call:  board and tasks handed out ─► agent ─► board and tasks come home ─► guards as in a checkout
//	accepted reply:  commit made from the files ─► the clone's HEAD and index follow it ─► WORK_KEPT
//
// The folder .git of the clone is the agent's: it is read and written as plain files, through no link, and
// no git is started in it once agents have worked there.
package clone

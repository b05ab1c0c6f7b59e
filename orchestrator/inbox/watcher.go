package inbox

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// Watcher reports new files in inboxes. All boards of a process share one Watcher. The zero value
// watches nothing yet. If Off is true, it never watches anything.
type Watcher struct {
	Off bool

	mu    sync.Mutex
	files *fsnotify.Watcher // nil before the first inbox
	boxes map[string]chan struct{}
	wg    sync.WaitGroup
}

// Watch watches a folder. The returned channel gets a value when a file appears in the folder. The
// channel is nil if Off is true or the system cannot watch the folder.
func (w *Watcher) Watch(dir string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Off {
		return nil
	}
	if w.files == nil {
		files, err := fsnotify.NewWatcher()
		if err != nil {
			return nil
		}
		w.files, w.boxes = files, map[string]chan struct{}{}
		w.wg.Go(func() { w.pass(files) })
	}
	if w.files.Add(dir) != nil {
		return nil
	}
	box := make(chan struct{}, 1)
	w.boxes[filepath.Clean(dir)] = box
	return box
}

func (w *Watcher) pass(files *fsnotify.Watcher) {
	for {
		select {
		case e, ok := <-files.Events:
			if !ok {
				return
			}
			if e.Has(fsnotify.Create) {
				w.ring(filepath.Dir(e.Name))
			}
		case _, ok := <-files.Errors: // ignored: the regular checks of the agent read the folder, too
			if !ok {
				return
			}
		}
	}
}

func (w *Watcher) ring(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.boxes[dir] <- struct{}{}:
	default: // a value is waiting already, or no reader watches the folder
	}
}

// Forget ends the watch of a folder.
func (w *Watcher) Forget(dir string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files != nil && w.boxes[filepath.Clean(dir)] != nil {
		_ = w.files.Remove(dir) // fails if the folder was removed
		delete(w.boxes, filepath.Clean(dir))
	}
}

// Close ends all watches.
func (w *Watcher) Close() error {
	w.mu.Lock()
	files := w.files
	w.files, w.boxes = nil, nil
	w.mu.Unlock()
	if files == nil {
		return nil
	}
	err := files.Close()
	w.wg.Wait()
	return err
}

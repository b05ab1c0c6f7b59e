package main

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"kanban-run/orchestrator/agent"
	"kanban-run/orchestrator/console"
	"kanban-run/orchestrator/durable"
	"kanban-run/orchestrator/event"
	"kanban-run/orchestrator/frontmatter"
	"kanban-run/orchestrator/inert"
	"kanban-run/orchestrator/inspect"
	"kanban-run/orchestrator/projection"
	"kanban-run/orchestrator/redact"
	"kanban-run/orchestrator/report"
	"kanban-run/orchestrator/result"
	"kanban-run/orchestrator/roster"
)

// job is the GitHub Actions job to which a run belongs. A run adds to it one error annotation for
// each incomplete board, a summary, and the outputs of its step.
type job struct {
	out        *console.Printer
	workspace  string // folder of the job; annotations name files relative to a repository in it
	outputFile string // file that the runner of the job reads after the step, or ""
	summary    string
	token      string   // token for stop-commands; random, so that an agent cannot guess it
	masks      bool     // the runner may be told the secrets, because only the runner reads the output
	boards     []string // boards on the command line
	errors     int      // number of errors so far
	warnings   int      // number of warnings so far
	files      []jobFile
	folders    []string // folders in which the runner keeps the files of all steps
	outputs    outputs
}

// ownStep is the environment variable that the action's script sets. Only the runner of the job
// reads the output of that script.
const ownStep = "KANBAN_RUN_ACTION"

// jobToken is the environment variable in which the guardian passes its token to its child process.
// With the token the child makes the job's runner ignore workflow commands. If the child is killed,
// the guardian makes the runner obey them again, with the same token.
const jobToken = "KANBAN_RUN_JOB_TOKEN"

// newJob returns the job that the environment variables describe, or nil outside of GitHub Actions.
func newJob(environ []string, out *console.Printer) *job {
	if roster.Variable(environ, "GITHUB_ACTIONS") != "true" {
		return nil
	}
	return &job{
		out:        out,
		workspace:  roster.Variable(environ, "GITHUB_WORKSPACE"),
		outputFile: roster.Variable(environ, "GITHUB_OUTPUT"),
		summary:    roster.Variable(environ, "GITHUB_STEP_SUMMARY"),
		masks:      roster.Variable(environ, ownStep) != "",
		token:      cmp.Or(roster.Variable(environ, jobToken), rand.Text()),
	}
}

// shareToken passes the token to the runner, a child of this process, in the environment.
func (j *job) shareToken() error {
	if j == nil {
		return nil
	}
	return os.Setenv(jobToken, j.token)
}

// concludeKilled reports the boards from their journals after the guardian's runner was killed.
// First it resumes workflow commands, and ends a group of output lines that may still be open.
func (j *job) concludeKilled(boards []string) {
	if j == nil {
		return
	}
	_ = j.out.Command(j.token, "")
	_ = j.out.Command("endgroup", "")
	var found []*projection.Board
	for _, name := range boards {
		if b, err := (inspect.Looker{Keep: projection.Keep{Steps: keptSteps}}).Look(name); err == nil {
			found = append(found, &b.Board)
			j.note(&b.Board)
		} else {
			j.noteUndone(name)
		}
	}
	_ = j.summarize(found)
}

// maxGrace returns the longest grace of agents in a job. Outside of a job it returns 0, which means
// no limit. A job that is cancelled gets SIGINT, 7.5 s later SIGTERM, and 2.5 s later SIGKILL.
func (j *job) maxGrace() time.Duration {
	if j == nil {
		return 0
	}
	return 4 * time.Second
}

// mask makes the runner of the job redact secrets in the logs of all steps. It leaves out the short
// secrets, words such as "disabled", and paths, because redacting them would make every log
// unreadable.
func (j *job) mask(secrets []redact.Secret, short []string) {
	if j == nil || !j.masks {
		return
	}
	for _, s := range secrets {
		if !slices.Contains(short, s.Name) && !isWord(s.Value) && !isPath(s.Value) {
			_ = j.out.Mask(s.Value)
		}
	}
}

// mostWord is the length of the longest text of letters that counts as a word, in bytes.
const mostWord = 10

// isWord reports whether a text is a word or two, as people write them into a variable in place of a
// secret: Disabled, not-needed.
func isWord(text string) bool {
	return len(text) <= mostWord && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz_-") == ""
}

// isPath reports whether a text is the path of a file: /a, ./a, ../a, ~/a, C:\a.
func isPath(text string) bool {
	drive := len(text) > 2 && text[1] == ':' && (text[2] == '\\' || text[2] == '/')
	return drive || filepath.IsAbs(text) || slices.ContainsFunc([]string{"./", "../", "~/"},
		func(begin string) bool { return strings.HasPrefix(text, begin) })
}

// The runner of a job shows at most ten errors of a step, and drops the whole summary if it is
// larger than 1 MiB.
const (
	maxErrors   = 10
	maxWarnings = 3 // besides those of the run's observer, and the one about the job's own files
	maxSummary  = 1<<20 - 1<<10
	keptSteps   = 200 // number of steps of each board in the summary
)

// conclude annotates the incomplete boards, writes the summary and keeps the values of the outputs.
func (j *job) conclude(results []result.Result, boards []*projection.Board, code int) error {
	var failed []int
	for i, b := range boards {
		j.note(b)
		if *b.Exit == exitComplete && b.Weight == event.Warning {
			j.warn(b.Reason.Said, "kanban-run: "+b.Board)
		}
		if *b.Exit != exitComplete {
			failed = append(failed, i)
		}
		if *b.Exit == code && (j.outputs.outcome == "" || j.outputs.outcome == event.Complete) {
			j.outputs.outcome = b.Outcome
		}
	}
	j.outputs.cost = j.outputs.used.Money()
	for n, i := range failed {
		if n == maxErrors-1 && len(failed) > maxErrors {
			j.error(fmt.Sprintf("%d more boards are not complete (exit code %d)", len(failed)-n, code),
				"kanban-run", "", "")
			break
		}
		j.annotate(boards[i], results[i].Err)
	}
	if err := j.summarize(boards); err != nil {
		j.outputs.outcome = event.Failed
		return err
	}
	return nil
}

// warn writes a warning annotation, or a plain line after maxWarnings of them.
func (j *job) warn(text, title string) {
	if j.warnings++; j.warnings > maxWarnings {
		_ = j.out.Printf("%s: warning: %s\n", title, console.Lines(text))
		return
	}
	_ = j.out.Command("warning", text, console.Property{Name: "title", Value: title})
}

// error writes an annotation, or a plain line after maxErrors annotations.
func (j *job) error(text, title, file, line string) {
	if j.errors++; j.errors > maxErrors {
		_ = j.out.Printf("kanban-run: %s\n", console.Lines(text))
		return
	}
	_ = j.out.Command("error", text, console.Property{Name: "file", Value: file},
		console.Property{Name: "line", Value: line}, console.Property{Name: "title", Value: title})
}

// annotate writes the error of an incomplete board. The annotation points at the first known one of
// these: the place that the error names, the task that is to blame, the next task, the board.
func (j *job) annotate(b *projection.Board, err error) {
	file, line := j.place(err)
	if file == "" && b.Reason.Where != "" {
		file = j.relative(filepath.Join(b.Workdir, b.Reason.Where))
	}
	if n := len(b.Steps); file == "" && n > 0 && b.Steps[n-1].NextTask != nil {
		file = j.relative(filepath.Join(b.Workdir, *b.Steps[n-1].NextTask))
	}
	if file == "" {
		file = j.relative(b.Board)
	}
	j.error(j.fitted(b.Reason.Said, b.Hint, *b.Exit), "kanban-run: "+b.Board, file, line)
}

// maxAnnotation bounds an annotation, in characters. It leaves room for the 64 characters that
// GitHub may add.
const maxAnnotation = 4096 - 64

// fitted returns the message of an annotation: the text, the exit code and the hint. A text that is
// too long is cut in its middle.
func (j *job) fitted(text, hint string, code int) string {
	end := fmt.Sprintf(" (exit code %d)", code)
	if hint != "" {
		end += "\n" + agent.Clip(j.out.Hide(hint), maxAnnotation/2)
	}
	runes, room := []rune(j.out.Hide(text)), maxAnnotation-utf8.RuneCountInString(end)
	if len(runes) > room {
		half := (room - len("\n…\n")) / 2
		runes = slices.Concat(runes[:half], []rune("\n…\n"), runes[len(runes)-half:])
	}
	return string(runes) + end
}

// explain annotates an error that kept the run from starting, and adds the error to the summary and
// the outputs.
func (j *job) explain(err error, hint string) {
	file, line := j.place(err)
	if file == "" && len(j.boards) > 0 && exists(j.boards[0]) {
		file = j.relative(j.boards[0])
	}
	code := codeOfError(err)
	j.outputs.texts = append(j.outputs.texts, strings.Join(strings.Fields(j.out.Hide(err.Error())), " "))
	j.error(j.fitted(err.Error(), hint, code), "kanban-run", file, line)
	if j.summary != "" { // otherwise only the log shows the error
		text := fmt.Sprintf("**kanban-run**: %s (exit code %d)\n\n", j.markdown(err.Error()), code)
		if hint != "" {
			text += "Hint: " + j.markdown(hint) + "\n\n"
		}
		_ = j.appendTo(j.summary, text)
	}
}

// markdown escapes a text for Markdown and keeps its line breaks.
func (j *job) markdown(text string) string {
	lines := strings.Split(strings.TrimSpace(j.out.Hide(text)), "\n")
	for i, line := range lines {
		lines[i] = inert.Markdown(line)
	}
	return strings.Join(lines, "<br>")
}

// place returns the file and the line that an error names. Both are "" if the error names no file,
// or a file outside of the workspace. If the error names only a file, line is "".
func (j *job) place(err error) (file, line string) {
	at := 0
	if p, ok := errors.AsType[*frontmatter.Problem](err); ok {
		file, at = p.File, p.Line
	}
	abs, err := filepath.Abs(file)
	if file == "" || err != nil {
		return "", ""
	}
	if file = j.relative(abs); file != "" && at > 0 {
		line = fmt.Sprint(at)
	}
	return file, line
}

// relative converts a path into one that begins at the top of the repository that has the file. The
// repository may be in a folder of the workspace. For a path outside of the workspace it returns "".
func (j *job) relative(path string) string {
	path, err := filepath.Abs(path)
	if err != nil || j.workspace == "" {
		return ""
	}
	top := filepath.Dir(path)
	for top != j.workspace && !exists(filepath.Join(top, ".git")) {
		if top == filepath.Dir(top) {
			return ""
		}
		top = filepath.Dir(top)
	}
	rel, err := filepath.Rel(top, path)
	if in, inErr := filepath.Rel(j.workspace, path); err != nil || inErr != nil || !filepath.IsLocal(in) || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// summarize adds the report of the boards to the summary of the job.
func (j *job) summarize(boards []*projection.Board) error {
	if j.summary == "" {
		return nil
	}
	if err := j.restoreFiles(); err != nil {
		return err
	}
	var used int64
	if info, err := os.Stat(j.summary); err == nil {
		used = info.Size()
	}
	return j.appendTo(j.summary, report.Markdown(boards, j.out.Hide, max(1, maxSummary-int(used))))
}

// appendTo appends to a file that the runner of the job reads. First it calls restoreFiles, which
// undoes what agents wrote to such files. A file in a folder that is not there, as in a container
// without the runner's mounts, is only warned of.
func (j *job) appendTo(path, text string) error {
	if err := j.restoreFiles(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		_ = j.out.Command("warning", "the job cannot be told how the run ended: there is no folder "+filepath.Dir(path))
		return nil
	}
	f, err := durable.OpenPlain(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("tell the job: %w", err)
	}
	_, err = f.WriteString(text)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("tell the job: %w", err)
	}
	return nil
}

package trust

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// buildFiles has the files in which programs of a name find what to do.
var buildFiles = map[string][]string{
	"make": {"GNUmakefile", "makefile", "Makefile"},
	"just": {"justfile", "Justfile", ".justfile"},
	"npm":  {"package.json"}, "pnpm": {"package.json"}, "yarn": {"package.json"},
	"tox": {"tox.ini", "pyproject.toml", "setup.cfg"},
}

// runners are programs whose first word that is no option is a script or another program.
var runners = []string{"sh", "bash", "dash", "zsh", "ksh", "ash", "python", "node", "nodejs", "ruby", "perl", "php", "deno", "bun", "lua",
	"Rscript", "tsx", "env", "timeout", "nice", "ionice", "nohup", "setsid", "stdbuf", "time", "sudo", "xargs", ".", "source"}

// scripts are the ends of the names of scripts.
var scripts = []string{".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php", ".lua", ".r", ".mk"}

// Files returns the files of a command as it is run in dir: the program, scripts among its words and
// in the text of a shell, and if builds is set those of make and its like. What the command reads or
// writes is none of them. A program that is found outside of the work tree top by its name alone is none
// either: the system changes it. path is the path of the program, as it was found; "": not found.
func Files(argv []string, path, dir, top string, builds bool) (files []string) {
	if path != "" && (isBelow(top, path) || len(argv) > 0 && strings.ContainsRune(argv[0], '/')) {
		files = append(files, path)
	}
	var words []string
	for _, word := range argv {
		words = append(words, strings.FieldsFunc(written.ReplaceAllString(word, " "), isShells)...)
	}
	c := command{words: words, folders: []string{dir}, builds: builds}
	for i := range words {
		c.addWord(i)
	}
	files = append(files, c.files...)
	slices.Sort(files)
	return slices.Compact(files)
}

// command collects the files of a command.
type command struct {
	words   []string
	folders []string // folders in which its files are looked for: the work directory, and those that it changes to
	files   []string
	builds  bool // the files of make and its like count
}

// addWord adds the files that a word stands for.
func (c *command) addWord(i int) {
	word := c.words[i]
	name := strings.TrimRight(filepath.Base(word), "0123456789.")
	switch before := c.before(i); {
	case (before == "cd" || before == "-C") && isFolder(resolve(c.folders[0], word)):
		c.folders = append(c.folders, resolve(c.folders[0], word))
	case before == "-m":
		c.add(strings.ReplaceAll(word, ".", "/")+".py", false)
		c.add(strings.ReplaceAll(word, ".", "/")+"/__main__.py", false)
	}
	if folder, is := strings.CutPrefix(word, "--directory="); is {
		c.folders = append(c.folders, resolve(c.folders[0], folder))
	}
	if files := buildFiles[name]; files != nil && c.builds {
		folders := c.ahead(i)
		if folders == nil {
			folders = c.folders
		}
		for _, folder := range folders {
			for _, file := range files {
				c.files = append(c.files, filepath.Join(folder, file))
			}
		}
	}
	for _, prefix := range []string{"--file=", "--makefile=", "--require=", "-f"} {
		if file, is := strings.CutPrefix(word, prefix); is && file != "" {
			c.add(file, true)
		}
	}
	c.add(word, c.isRun(i))
}

// ahead returns the folders that options behind a word name.
func (c *command) ahead(i int) (folders []string) {
	for j := i + 1; j+1 < len(c.words); j++ {
		if folder := resolve(c.folders[0], c.words[j+1]); c.words[j] == "-C" && isFolder(folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}

func (c *command) before(i int) string {
	if i == 0 {
		return ""
	}
	return c.words[i-1]
}

// isRun reports whether a word is a script or a program of the words before it: behind a runner, its
// options and their values, or behind the option -f of make.
func (c *command) isRun(i int) bool {
	for j := i - 1; j >= 0 && i-j <= 4; j-- {
		name := strings.TrimRight(filepath.Base(c.words[j]), "0123456789")
		if slices.Contains(runners, name) {
			return true
		}
		word := c.words[j]
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") && (word[0] < '0' || word[0] > '9') {
			break // that one is run
		}
	}
	return c.before(i) == "-f" || c.before(i) == "--rcfile" || c.before(i) == "-r"
}

// add adds a file if it is one that is run: the command says so, it is executable, or its name is that
// of a script. A script that is not there counts, too, because it may come.
func (c *command) add(word string, isRun bool) {
	isScript := slices.Contains(scripts, strings.ToLower(filepath.Ext(word)))
	for _, folder := range c.folders {
		path := resolve(folder, word)
		info, err := os.Stat(path)
		there := err == nil && info.Mode().IsRegular()
		if there && (isRun || isScript || info.Mode()&0o111 != 0) || err != nil && isScript && !strings.HasPrefix(word, "-") {
			c.files = append(c.files, path)
		}
	}
}

// written matches a redirection of a shell's output.
var written = regexp.MustCompile(`[0-9]?>>?[|&]?\s*[^\s;&|)]+`)

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isShells reports whether a character separates the words of a shell's text.
func isShells(r rune) bool { return strings.ContainsRune(" \t\n'\"`;&|()<>{}$", r) }

func resolve(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

func isBelow(top, path string) bool {
	rel, err := filepath.Rel(top, path)
	return top != "" && err == nil && filepath.IsLocal(rel)
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"kanban-run/docs"
	"kanban-run/orchestrator/roster"
	"kanban-run/roles"
	"kanban-run/schema"
)

func completionCommand() command {
	return command{
		name: "completion", args: "bash|zsh|fish", summary: "print a completion script for a shell",
		examples: `
  source <(kanban-run completion bash)
  kanban-run completion zsh > "${fpath[1]}/_kanban-run"
  kanban-run completion fish > ~/.config/fish/completions/kanban-run.fish`,
		setup: func(*pflag.FlagSet) func(*terminal, []string) (int, error) {
			return func(t *terminal, args []string) (int, error) {
				if len(args) != 1 {
					return 0, &usageError{text: "which shell?", hint: "kanban-run completion bash, zsh or fish"}
				}
				script, ok := map[string]func() string{
					"bash": bashScript,
					"zsh":  zshScript,
					"fish": fishScript,
				}[args[0]]
				if !ok {
					return 0, &usageError{
						text: "no completion for " + args[0],
						hint: "kanban-run completion bash, zsh or fish",
					}
				}
				return exitComplete, t.stdout.PrintTrusted(script())
			}
		},
	}
}

func flagsOf(c command) *pflag.FlagSet {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	c.setup(flags)
	return flags
}

func flagNames(c command) string {
	names := []string{"--help"}
	flagsOf(c).VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return strings.Join(names, " ")
}

func commandNames() string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return strings.Join(names, " ")
}

// wordsOf returns the words that a command takes as an argument, besides a board.
func wordsOf(name string) string {
	switch name {
	case "ack":
		return strings.Join(ackWords, " ")
	case "completion":
		return "bash zsh fish"
	case "docs":
		return strings.Join(docs.Topics(), " ")
	case "roles":
		return strings.Join(builtInRoles(), " ")
	case "schema":
		return strings.Join(schema.Names(), " ")
	default:
		return ""
	}
}

func builtInRoles() (names []string) {
	if set, err := roles.Load(); err == nil {
		for _, r := range set.All() {
			names = append(names, r.Name)
		}
	}
	return names
}

func adapterNames() string { return strings.Join(append(roster.Adapters(), "stub"), " ") }

func bashScript() string {
	var b strings.Builder
	b.WriteString("# bash completion for kanban-run\n_kanban_run() {\n" +
		"  local word=${COMP_WORDS[COMP_CWORD]} flags words= i=$COMP_CWORD\n")
	b.WriteString("  case ${COMP_WORDS[1]} in\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %s) flags='%s' words='%s' ;;\n", c.name, flagNames(c), wordsOf(c.name))
	}
	fmt.Fprintf(&b, "    *) flags='%s' ;;\n  esac\n", flagNames(runCommand()))
	// Bash splits ROLE=ADAPTER into three words: ROLE, =, ADAPTER.
	b.WriteString("  [[ $word == = ]] && word= && i=$((i + 1))\n")
	fmt.Fprintf(&b, "  if [[ ${COMP_WORDS[i-1]} == = && \" ${COMP_WORDS[*]:i-3:2} \" == *' --agent '* ]]; then\n"+
		"    mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\")\n", adapterNames())
	fmt.Fprintf(&b, "  elif [[ ${COMP_WORDS[i-1]} == --agent ]]; then\n    compopt -o nospace 2>/dev/null\n"+
		"    mapfile -t COMPREPLY < <(compgen -W '%s' -S ' ' -- \"$word\"; compgen -W '%s' -S = -- \"$word\")\n",
		adapterNames(), strings.Join(builtInRoles(), " "))
	b.WriteString("  elif [[ $word == -* ]]; then\n    mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- \"$word\")\n")
	b.WriteString("  elif [[ $COMP_CWORD == 1 ]]; then\n")
	fmt.Fprintf(&b, "    mapfile -t COMPREPLY < <(compgen -W '%s' -- \"$word\"; compgen -f -- \"$word\")\n",
		commandNames())
	b.WriteString("  elif [[ ${COMP_WORDS[1]} =~ ^(completion|docs|roles|schema)$ ]]; then\n" +
		"    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n")
	b.WriteString("  else\n" +
		"    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\"; compgen -f -- \"$word\")\n" +
		"  fi\n}\ncomplete -o filenames -F _kanban_run kanban-run\n")
	return b.String()
}

func zshScript() string {
	var b strings.Builder
	b.WriteString("#compdef kanban-run\n_kanban_run() {\n  local -a commands flags words_of\n  commands=(\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    '%s:%s'\n", c.name, strings.ReplaceAll(c.summary, "'", `'\''`))
	}
	b.WriteString("  )\n  case ${words[2]} in\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "    %s) flags=(%s) words_of=(%s) ;;\n", c.name, flagNames(c), wordsOf(c.name))
	}
	fmt.Fprintf(&b, "    *) flags=(%s) ;;\n  esac\n", flagNames(runCommand()))
	fmt.Fprintf(&b, "  if [[ ${words[CURRENT-1]} == --agent ]]; then\n"+
		"    compset -P '*=' || compadd -S = -- %s\n    compadd -- %s\n    return\n  fi\n",
		strings.Join(builtInRoles(), " "), adapterNames())
	b.WriteString("  if [[ ${words[CURRENT]} == -* ]]; then\n    compadd -- $flags\n    return\n  fi\n")
	b.WriteString("  (( CURRENT == 2 )) && _describe command commands || compadd -- $words_of\n  _files\n}\n" +
		"_kanban_run \"$@\"\n")
	return b.String()
}

func fishScript() string {
	var b strings.Builder
	b.WriteString("# fish completion for kanban-run\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "complete -c kanban-run -n __fish_use_subcommand -a %s -d '%s'\n", c.name, fishQuote(c.summary))
		flagsOf(c).VisitAll(func(f *pflag.Flag) {
			fmt.Fprintf(&b, "complete -c kanban-run -n '__fish_seen_subcommand_from %s' -l %s -d '%s'%s\n",
				c.name, f.Name, fishQuote(f.Usage), fishWords(f.Name))
		})
		if words := wordsOf(c.name); words != "" {
			fmt.Fprintf(&b, "complete -c kanban-run -n '__fish_seen_subcommand_from %s' -a '%s'\n", c.name, words)
		}
	}
	flagsOf(runCommand()).VisitAll(func(f *pflag.Flag) {
		fmt.Fprintf(&b, "complete -c kanban-run -n __fish_use_subcommand -l %s -d '%s'\n", f.Name, fishQuote(f.Usage))
	})
	return b.String()
}

// fishWords returns the options with which fish's command "complete" offers the values of a flag.
func fishWords(flag string) string {
	if flag == "agent" {
		words := adapterNames()
		for _, role := range builtInRoles() {
			for _, adapter := range strings.Fields(adapterNames()) {
				words += " " + role + "=" + adapter
			}
		}
		return " -x -a '" + words + "'"
	}
	return ""
}

func fishQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s)
}

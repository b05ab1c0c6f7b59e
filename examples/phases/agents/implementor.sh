#!/bin/sh
# The Implementor: does the one task it is given. Its first draft of slug.sh is not good enough, as first drafts are; when the
# reviewer's findings stand in the work log, it writes the second.
# shellcheck disable=SC2016 # the backquotes are Markdown's
set -eu

input=$(tr -d '\n')
task_file=$(printf '%s\n' "$input" | sed -n 's/.*"task_file" *: *"\([^"]*\)".*/\1/p')

# finish TITLE FACTS: logs the work in the last section of the task file, and replies.
finish() {
	printf '\n### [%s] Implementor: %s\n\n**Facts:**\n%s\n\n**Analysis:**\n- See docs/slug.md\n\n**Conclusion:**\n- Status: ok\n- Next: review\n' \
		"$(date '+%Y-%m-%d %H:%M:%S')" "$1" "$2" >>"$task_file"
	printf '{"status": "ok", "message": "%s"}\n' "$1"
}

blocked() {
	printf '\n### [%s] Implementor: blocked\n\n**Facts:**\n- %s\n\n**Analysis:**\n- It is not mine to make\n\n**Conclusion:**\n- Status: blocked\n' \
		"$(date '+%Y-%m-%d %H:%M:%S')" "$1" >>"$task_file"
	printf '{"status": "blocked", "message": "%s"}\n' "$1"
}

first_draft() {
	cat >out/slug.sh <<'PROGRAM'
#!/bin/sh
printf '%s\n' "$*" | tr '[:upper:]' '[:lower:]' | tr -c '[:lower:][:digit:]\n' '-'
PROGRAM
	finish 'first draft of out/slug.sh' "- $(printf 'slug of Hello: %s' "$(sh out/slug.sh Hello)")"
}

second_draft() {
	cat >out/slug.sh <<'PROGRAM'
#!/bin/sh
# Prints the slug of its arguments; see docs/slug.md.
printf '%s\n' "$*" | tr '[:upper:]' '[:lower:]' | tr -cs '[:lower:][:digit:]\n' '-' | sed 's/^-//; s/-$//'
PROGRAM
	finish 'out/slug.sh squeezes and trims dashes' "- $(printf 'slug of Hello, World!: %s' "$(sh out/slug.sh 'Hello, World!')")"
}

manual() {
	{
		printf '# slug.sh\n\n| text | slug |\n|---|---|\n'
		sed -n 's/^- `\(.*\)` -> .*/\1/p' docs/slug.md | while IFS= read -r text; do
			printf '| `%s` | `%s` |\n' "$text" "$(sh out/slug.sh "$text")"
		done
	} >out/MANUAL.md
	finish 'out/MANUAL.md shows what slug.sh prints' "- $(grep -c '^| `' out/MANUAL.md) examples, each printed by the program"
}

mkdir -p out
if [ ! -f docs/slug.md ]; then
	blocked 'docs/slug.md is missing: there is nothing to build from'
	exit 0
fi
case $task_file in
*write-manual*) manual ;;
*) if grep -q '^- Verdict: CHANGES REQUESTED' "$task_file"; then second_draft; else first_draft; fi ;;
esac

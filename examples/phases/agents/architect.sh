#!/bin/sh
# The Architect: designs, reviews or validates, as the board's phase says. It tests what others claim, and fixes nothing.
# shellcheck disable=SC2016 # the backquotes are Markdown's
set -eu

input=$(tr -d '\n')
field() { printf '%s\n' "$input" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p'; }
task_file=$(field task_file)
phase=$(sed -n 's/^phase: *//p' "$(field kanban_file)")

# log TITLE FACTS ANALYSIS CONCLUSION: appends an entry to the task's work log, which is the last section of the file.
log() {
	printf '\n### [%s] Architect: %s\n\n**Facts:**\n%s\n\n**Analysis:**\n%s\n\n**Conclusion:**\n- Status: ok\n%s\n' \
		"$(date '+%Y-%m-%d %H:%M:%S')" "$1" "$2" "$3" "$4" >>"$task_file"
}

reply() { printf '{"status": "ok", "message": "%s"}\n' "$1"; }

design() {
	mkdir -p docs
	cat >docs/slug.md <<'DOC'
# Slugs

`slug.sh TEXT...` prints the slug of a text: lower case letters and digits, everything else becomes one dash, and there is no dash
at either end. Accents are left out of this version on purpose.

Examples, each of which is a test:

- `Hello` -> `hello`
- `Hello, World!` -> `hello-world`
- `  two  spaces ` -> `two-spaces`
- `100 % done` -> `100-done`
DOC
	log 'design of slug.sh' '- Wrote docs/slug.md with four examples' \
		'- Dashes are squeezed, because two in a row are easily overlooked in an address' \
		'- Work item: write-slug | Write out/slug.sh as docs/slug.md says; every example there holds
- Work item: write-manual | Write out/MANUAL.md: every example of docs/slug.md with what out/slug.sh really prints'
	reply 'designed slug.sh, two work items'
}

# failures prints a line for each example of the design that does not hold.
failures() {
	if [ ! -f out/slug.sh ]; then
		echo '- out/slug.sh is missing'
		return
	fi
	sed -n 's/^- `\(.*\)` -> `\(.*\)`$/\1|\2/p' docs/slug.md | while IFS='|' read -r text want; do
		got=$(sh out/slug.sh "$text")
		[ "$got" = "$want" ] || printf -- '- `%s` gives `%s`, not `%s`\n' "$text" "$got" "$want"
		case $1 in
		*manual*) grep -qF "$want" out/MANUAL.md || printf -- '- out/MANUAL.md does not show `%s`\n' "$want" ;;
		esac
	done
}

# judge WHAT SCOPE: the verdict on the work so far.
judge() {
	bad=$(failures "$2")
	if [ -z "$bad" ]; then
		log "$1" '- Ran every example of docs/slug.md: all hold' '- Nothing is missing' '- Verdict: PASS'
		reply "$1: pass"
	else
		log "$1" "$bad" '- The rules of docs/slug.md are not kept' '- Verdict: CHANGES REQUESTED'
		reply "$1: changes requested"
	fi
}

case $phase in
design) design ;;
validate) judge 'validation of the whole' manual ;;
*) judge "review of $(basename "$task_file" .md)" "$task_file" ;;
esac

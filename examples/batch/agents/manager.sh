#!/bin/sh
# One Manager for three boards. It marks the done task in the way of the board at hand, a suffix or a state, and names the next
# one that is not marked; `current` it leaves to kanban-run.
set -eu

input=$(tr -d '\n')
field() { printf '%s\n' "$input" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p'; }
board=$(field kanban_file)
done_task=$(field done_task)
tasks=$(printf '%s\n' "$input" | sed -n 's/.*"tasks" *: *\[\([^]]*\)\].*/\1/p')

# A task that is not ok is for a person: this Manager cannot make it easier.
if [ "$(sed -n 's/^- Status: //p' "$done_task" | tail -n 1)" != ok ]; then
	printf '{"status": "escalate", "message": "%s is not done: see its work log", "next_task": null, "tasks": [%s]}\n' "$done_task" "$tasks"
	exit 0
fi

suffix=
if grep -q '^  - .* \[done\]$' "$board"; then
	suffix=' [done]'
fi
awk -v path="$done_task" -v suffix="$suffix" '
	$0 == "  - " path { print $0 suffix; next }
	/^  - / { here = ($0 == "  - file: " path) }
	here && /^    state:/ { sub(/state: *todo/, "state: done") }
	{ print }
' "$board" >"$board.new"
# The same bytes are not written again: a board that has not changed should not look as if it had.
if cmp -s "$board" "$board.new"; then rm "$board.new"; else mv "$board.new" "$board"; fi

# is_done PATH: marked by a suffix or by a state.
is_done() {
	awk -v path="$1" '
		$0 == "  - " path " [done]" { found = 1 }
		/^  - / { here = ($0 == "  - file: " path) }
		here && /^    state: done/ { found = 1 }
		END { exit !found }
	' "$board"
}

next=
after=
for path in $(printf '%s\n' "$tasks" | tr ',' '\n' | sed 's/^ *"//; s/" *$//; s/ \[done\]$//'); do
	if [ -n "$after" ] && [ -z "$next" ] && ! is_done "$path"; then next=$path; fi
	if [ "$path" = "$done_task" ]; then after=yes; fi
done

if [ -n "$next" ]; then
	printf '{"status": "ok", "message": "%s is next", "next_task": "%s", "tasks": [%s]}\n' "$next" "$next" "$tasks"
else
	printf '{"status": "ok", "message": "all is done", "next_task": null, "tasks": [%s]}\n' "$tasks"
fi

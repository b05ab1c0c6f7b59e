#!/bin/sh
# The smallest Manager: it names the task after the one that is done, or null after the last, and returns the list as it got
# it. It leaves the board alone, so kanban-run writes the answer onto it.
set -eu

input=$(tr -d '\n')
done_task=$(printf '%s\n' "$input" | sed -n 's/.*"done_task" *: *"\([^"]*\)".*/\1/p')
tasks=$(printf '%s\n' "$input" | sed -n 's/.*"tasks" *: *\[\([^]]*\)\].*/\1/p')

next=$(printf '%s\n' "$tasks" | tr ',' '\n' | sed 's/^ *"//; s/" *$//' |
	awk -v done_task="$done_task" 'found { print; exit } $0 == done_task { found = 1 }')

if [ -n "$next" ]; then
	printf '{"status": "ok", "message": "%s is next", "next_task": "%s", "tasks": [%s]}\n' "$next" "$next" "$tasks"
else
	printf '{"status": "ok", "message": "all is done", "next_task": null, "tasks": [%s]}\n' "$tasks"
fi

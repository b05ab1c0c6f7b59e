#!/bin/sh
# The Manager: reads the last work log entry of the done task, decides what is next, and writes it onto the board itself. The
# decision hangs on files only, so that being called a second time for the same task changes nothing.
set -eu

input=$(tr -d '\n')
field() { printf '%s\n' "$input" | sed -n 's/.*"'"$1"'" *: *"\([^"]*\)".*/\1/p'; }
board=$(field kanban_file)
done_task=$(field done_task)

on_board() { sed -n "s/^$1: *\([^ #]*\).*/\1/p" "$board"; }
tasks() { sed -n 's/^  - \(tasks\/[^ ]*\).*/\1/p' "$board"; }
last() { sed -n "s/^$1//p" "$done_task" | tail -n 1; }

# reply STATUS MESSAGE: next_task and tasks are what the board says by now.
reply() {
	next=$(on_board current)
	[ "$next" = null ] || next="\"$next\""
	printf '{"status": "%s", "message": "%s", "next_task": %s, "tasks": [%s]}\n' \
		"$1" "$2" "$next" "$(tasks | sed 's/.*/"&"/' | paste -s -d , -)"
}

# move PHASE SUB_PHASE CURRENT [TASK...]: changes the board, whole or not at all, and adds tasks at the end of the list. All other
# lines stay as they are.
move() {
	phase=$1 sub_phase=$2 current=$3
	shift 3
	awk -v phase="$phase" -v sub_phase="$sub_phase" -v current="$current" -v more="$*" '
		/^sub_phase:/ { next }
		/^phase:/ { print "phase: " phase; if (sub_phase != "") print "sub_phase: " sub_phase; next }
		/^current:/ { sub(/^current: *[^ #]*/, "current: " current) }
		{ print }
		END { n = split(more, add, " "); for (i = 1; i <= n; i++) print "  - " add[i] }
	' "$board" >"$board.new"
	mv "$board.new" "$board"
}

# plan makes a task of each work item of the design, and one that validates the whole.
plan() {
	number=2
	new=
	while IFS='|' read -r name what; do
		number=$((number + 1))
		new="$new tasks/$number-${name% }.md"
		write_task "tasks/$number-${name% }.md" implement "${what# }"
	done <<ITEMS
$(sed -n 's/^- Work item: //p' tasks/1-design.md)
validate | Check the whole: out/slug.sh keeps docs/slug.md, and out/MANUAL.md shows every example
ITEMS
	printf '\n### [%s] Manager: plan\n\n**Facts:**\n- Created%s\n\n**Analysis:**\n- In the order of the design\n\n**Conclusion:**\n- Status: ok\n' \
		"$(date '+%Y-%m-%d %H:%M:%S')" "$new" >>"$done_task"
	# shellcheck disable=SC2086 # the list is meant to be split
	set -- $new
	move execute '' "$1" "$@"
	reply ok "planned $# tasks"
}

write_task() {
	case $1 in *validate*) type=validate ;; *) type=$2 ;; esac
	printf -- '---\ntype: %s\nstate: todo\nrefers: [docs/slug.md]\n---\n\n# Task: %s\n\n## Description\n%s.\n\n## Work Log\n' \
		"$type" "$(basename "$1" .md)" "$3" >"$1"
}

# forward marks the task as done and takes the one after it in the list.
forward() {
	sed 's/^state: todo$/state: done/' "$done_task" >"$done_task.new"
	mv "$done_task.new" "$done_task"
	next=$(tasks | awk -v done_task="$done_task" 'found { print; exit } $0 == done_task { found = 1 }')
	case $next in
	'') move complete '' null ;;
	*plan*) move plan '' "$next" ;;
	*validate*) move validate '' "$next" ;;
	*) move execute '' "$next" ;;
	esac
	reply ok "${done_task} is done"
}

author=$(sed -n 's/^### \[.*\] \([A-Za-z]*\):.*/\1/p' "$done_task" | tail -n 1)
status=$(last '- Status: ')
verdict=$(last '- Verdict: ')

if [ "$(on_board phase)" = plan ] && [ "$(on_board current)" = "$done_task" ]; then
	plan
	exit 0
fi
if [ "$status" != ok ]; then
	move "$(on_board phase)" '' null
	reply escalate "$done_task ended with status ${status:-none}: read its work log, and make it current again"
	exit 0
fi
if [ "$(on_board current)" != "$done_task" ]; then
	reply ok 'the board has moved on already'
	exit 0
fi
case $author/$verdict in
Implementor/*)
	move execute review "$done_task"
	reply ok "$done_task is ready for review"
	;;
'Architect/CHANGES REQUESTED')
	move execute '' "$done_task"
	reply ok "$done_task goes back to the Implementor"
	;;
*) forward ;;
esac

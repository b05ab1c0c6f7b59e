#!/bin/sh
# The agent of the crash tests, in every role: sh agent.sh MARKER, in the work directory. It keeps a log of its calls, notices
# another one at work beside it, leaves a process behind in every second task, and writes the board as a Manager in every
# second task, in two pieces. It uses few programs, because each costs more than all the rest.
#
#	CRASH_NAP      seconds to work; none when empty
#	CRASH_GARBAGE  "ROLE TASK" that is answered with garbage the first time
#	CRASH_HUNG     "ROLE TASK" that hangs, the first time that it is started
#	CRASH_DEAF     "ROLE TASK" that goes on for ever and does not heed SIGTERM while the file deaf is there
#	CRASH_CUT      what the first piece of a board is that a Manager writes: nothing, a line or half a word; or rename,
#	               for a board that is there at once
#	CRASH_HALF     task whose Manager writes no more than that the first time
#	CRASH_AT       folder for its log and the other files that steer it; the work directory when empty
#	CRASH_WRITES   it writes a file of its own for each task, and into the work log of the task
set -u
marker=$1
at=${CRASH_AT:-.}
role=$KANBAN_RUN_ROLE
read -r input || :
case $input in
*"}") ;;
*) exit 1 ;; # the runner was killed before it had given all of the input
esac

# field NAME: a text of the input.
field() {
	value=${input#*\""$1"\":\"}
	value=${value%%\"*}
}

# started PID: sets state and when, which tells two processes of one number apart.
started() {
	state=Z when=
	{ read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 0
	# shellcheck disable=SC2086 # the fields are words
	set -- ${stat##*) }
	state=$1 when=${20}
}

# begin: no other agent may be at work.
begin() {
	echo "begin $role $task $$" >>"$at/calls"
	if read -r pid since <"$at/busy"; then
		started "$pid"
		[ "$state" = Z ] || [ "$when" != "$since" ] || echo "OVERLAP $role $task $$ began beside $pid" >>"$at/calls"
	fi
	started $$
	own="$$ $when"
	echo "$own" >"$at/busy"
}

end() {
	read -r now <"$at/busy" || now=
	[ "$now" = "$own" ] || echo "OVERLAP $role $task $$ ended beside $now" >>"$at/calls"
	: >"$at/busy"
	echo "end $role $task $$" >>"$at/calls"
}

nap() {
	[ -z "${CRASH_NAP:-}" ] || sleep "$CRASH_NAP"
}

even() {
	case $task in *[02468].md) return 0 ;; *) return 1 ;; esac
}

work() {
	if even; then
		sh -c 'sleep 60; :' "$marker" &
	fi
	nap
	if [ -n "${CRASH_WRITES:-}" ]; then
		echo "$task" >"of-${task##*/}"
		case $(cat "$task") in *"## Work log"*) ;; *) printf '\n## Work log\n\ndid it\n' >>"$task" ;; esac
	fi
	reply='{"status":"ok","message":"did it"}'
}

manage() {
	list=${input#*\"tasks\":[}
	list=${list%%]*}
	case $list in
	*\""$task"\",*) next=${list#*\""$task"\",\"} next=${next%%\"*} ;;
	*) next=null ;;
	esac
	if even; then
		write_board
	fi
	named=\"$next\"
	[ "$next" != null ] || named=null
	reply='{"status":"ok","message":"next","next_task":'$named',"tasks":['$list']}'
}

write_board() {
	case ${CRASH_CUT:-} in
	nothing) : >kanban.yaml ;;
	rename) ;;
	line) printf 'current: %s\n' "$next" >kanban.yaml ;;
	*) printf 'current: %s\ntas' "$next" >kanban.yaml ;;
	esac
	nap
	stop_halfway
	rest=$list,
	text="current: $next
tasks:"
	while [ -n "$rest" ]; do
		entry=${rest%%,*}
		entry=${entry#\"}
		text="$text
  - ${entry%\"}"
		rest=${rest#*,}
	done
	if [ "${CRASH_CUT:-}" = rename ]; then
		printf '%s\n' "$text" >board.new
		mv board.new kanban.yaml
	else
		printf '%s\n' "$text" >kanban.yaml
	fi
}

# stop_halfway: the board is in pieces now.
stop_halfway() {
	[ "${CRASH_HALF:-}" = "$task" ] && ! [ -e "$at/half-written" ] || return 0
	: >"$at/half-written"
	while :; do
		sleep 0.02
	done
}

# garbled: this call is to be answered with garbage, once.
garbled() {
	[ "${CRASH_GARBAGE:-}" = "$role $task" ] && ! [ -e "$at/garbled" ] && : >"$at/garbled"
}

# deafen: this call is to go on until it is killed.
deafen() {
	if [ "${CRASH_HUNG:-}" = "$role $task" ] && [ ! -e "$at/hung" ]; then
		touch "$at/hung"
		exec sleep 600
	fi
	[ "${CRASH_DEAF:-}" = "$role $task" ] && [ -e "$at/deaf" ] || return 0
	trap '' TERM
	: >"$at/listening"
	while :; do
		sleep 0.02
	done
}

field task_file
[ "$role" != Manager ] || field done_task
task=$value
[ -e "$at/busy" ] || : >"$at/busy"
begin
deafen
if garbled; then
	reply=garbage
elif [ "$role" = Manager ]; then
	manage
else
	work
fi
end
echo "$reply"

#!/bin/sh
# The agents of TestRandomKillsOfANight: sh night.sh PART ..., in the work directory. PART is work for an exec agent, check
# for the command that reviews it, and claude for a provider that is busy at times. They keep their log in $NIGHT, outside of
# the project, and read there what this run plays.
#
#	$NIGHT/calls   a line at each begin and end, and at each refusal: WHAT ROLE TASK ROUND PID
#	$NIGHT/busy    there while the provider refuses each call
#	$NIGHT/once    the provider refuses one call, which removes this file
#	$NIGHT/forge   there while an agent marks tasks that are not its own
set -u
read -r input || :
case $input in
*"}") ;;
*) exit 1 ;; # the runner was killed before it had given all of the input
esac
part=$1
shift

say() {
	echo "$1 $KANBAN_RUN_ROLE $task $round $$" >>"$NIGHT/calls"
}

# mark TASK WORDS: puts a mark into the header of a task, at once, so that no half of a file is left.
mark() {
	sed "s/^role:/status: done # $2\\nrole:/" "$1" >"$NIGHT/new.$$"
	mv "$NIGHT/new.$$" "$1"
}

marked() {
	grep -q '^status: done' "$1"
}

session() {
	id=${task%.md}
	echo "${id%/*}-${id#*/}"
}

# The task is named in the input, or in the name of the session that goes on.
task=${input#*task_file}
task=${task#*:}
task=${task#*\"}
task=${task%%[\\\"]*}
for word in "$@"; do
	case $word in one-* | two-* | three-*) task=${word%-*}/${word#*-}.md ;; esac
done
round=1
case $input in *'"feedback"'*) round=2 ;; esac

case $part in
work)
	say begin
	echo $$ >>"$task.log" # work that leaves nothing behind would be taken for a loop
	case $task in *[24].md) sleep 60 & ;; esac # a process that its agent leaves behind
	sleep 0.01
	# A mark that is there before the other board has begun counts.
	if [ "$task" = two/2.md ] && [ -e "$NIGHT/forge" ] && grep -q marks_sha256 .kanban-run/runs/one.yaml/journal.jsonl; then
		for other in two/4.md one/5.md; do
			marked $other || mark $other forged
		done
		say forge
		sleep 0.1 # so that kills come in between
	fi
	[ $round = 1 ] || : >"$NIGHT/whole.${task%/*}.${task#*/}"
	say end
	status=ok
	[ "$task" != one/3.md ] || status=blocked
	echo '{"status":"'$status'","message":"did it"}'
	;;
check)
	[ "$task" != two/3.md ] || [ -e "$NIGHT/whole.${task%/*}.${task#*/}" ] || exit 2
	;;
claude)
	say begin
	if [ -e "$NIGHT/busy" ] || rm "$NIGHT/once" 2>/dev/null; then
		say refuse
		echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: 529 overloaded_error","session_id":"'"$(session)"'"}'
		exit 1
	fi
	echo '{"type":"system","subtype":"init","session_id":"'"$(session)"'"}'
	sleep 0.01
	marked "$task" || mark "$task" own
	say end
	echo '{"type":"result","subtype":"success","is_error":false,"result":"{\"status\":\"ok\",\"message\":\"m\"}","session_id":"'"$(session)"'","total_cost_usd":0.01}'
	;;
esac

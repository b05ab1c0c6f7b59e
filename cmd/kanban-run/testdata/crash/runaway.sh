#!/bin/sh
# An agent that lets a process escape: sh runaway.sh ESCAPE MARKER, in the work directory. For a task NAME.md the file
# wild.NAME names the kind of escape, if there is to be one, and the agent works until the file hold.NAME is gone.
set -u
escape=$1 marker=$2
read -r input || :
task=${input#*\"task_file\":\"}
task=${task%%\"*}
name=${task##*/}
name=${name%.md}
if [ -e "wild.$name" ]; then
	read -r kind <"wild.$name"
	"$escape" "$kind" "$marker-$name" "up.$name" || exit 1
fi
echo "begin $KANBAN_RUN_ROLE $task $$" >>calls
while [ -e "hold.$name" ]; do
	sleep 0.02
done
echo '{"status":"ok","message":"done"}'

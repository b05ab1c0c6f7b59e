#!/bin/sh
# An agent that writes down the signals that it gets: sh stubborn.sh MARKER. It ends at SIGTERM, unless the file deaf is there.
set -u
trap 'echo INT >>signals' INT
trap 'echo HUP >>signals' HUP
trap 'echo TERM >>signals; [ -e deaf ] || exit 143' TERM
echo "begin $KANBAN_RUN_ROLE - $$" >>calls
while :; do
	sleep 0.02
done

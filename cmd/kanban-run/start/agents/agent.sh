#!/bin/sh
# An agent is any program that reads one JSON object and prints another: docs/writing-an-agent.md. This one only notes in the task's work
# log that it was asked, and replies blocked, so that no task counts as done. Put your own in its place, or name claude or codex in .kanban-run.yaml.
set -eu
input=$(tr -d '\n')
task_file=$(printf '%s\n' "$input" | sed -n 's/.*"task_file" *: *"\([^"]*\)".*/\1/p')
printf '\n### [%s] agents/agent.sh\n\nIt was asked, and did nothing: it is an example.\n' "$(date '+%Y-%m-%d %H:%M:%S')" >>"$task_file"
echo '{"status": "blocked", "message": "agents/agent.sh is an example, and did nothing: name an agent in .kanban-run.yaml"}'

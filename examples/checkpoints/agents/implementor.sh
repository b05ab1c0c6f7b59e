#!/bin/sh
# An Implementor: JSON on stdin names the task file, JSON on stdout says how it went. The task quotes the lines that it wants.
set -eu

input=$(tr -d '\n')
task_file=$(printf '%s\n' "$input" | sed -n 's/.*"task_file" *: *"\([^"]*\)".*/\1/p')
out=out/$(basename "$task_file" .md).txt
mkdir -p out
sed -n 's/^> //p' "$task_file" >"$out"

cat >>"$task_file" <<LOG

### [$(date '+%Y-%m-%d %H:%M:%S')] Implementor: $out

**Facts:**
- Wrote $(wc -l <"$out" | tr -d ' ') lines to $out

**Analysis:**
- Nothing to decide

**Conclusion:**
- Status: ok
LOG

printf '{"status": "ok", "message": "wrote %s"}\n' "$out"

#!/bin/sh
# An Implementor: JSON on stdin names the task file, JSON on stdout says how it went. What it did is in the task's work log.
set -eu

input=$(tr -d '\n')
task_file=$(printf '%s\n' "$input" | sed -n 's/.*"task_file" *: *"\([^"]*\)".*/\1/p')

# The task quotes the line that it wants: "> Hello".
line=$(sed -n 's/^> //p' "$task_file")
out=out/$(basename "$task_file" .md).txt
mkdir -p out
printf '%s\n' "$line" >"$out"

cat >>"$task_file" <<LOG

### [$(date '+%Y-%m-%d %H:%M:%S')] Implementor: $out

**Facts:**
- Wrote one line of $(wc -w <"$out" | tr -d ' ') words to $out

**Analysis:**
- Nothing to decide

**Conclusion:**
- Status: ok
LOG

printf '{"status": "ok", "message": "wrote %s"}\n' "$out"

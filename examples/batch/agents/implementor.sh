#!/bin/sh
# The Implementor: counts the words of the text that its task is about.
set -eu

input=$(tr -d '\n')
task_file=$(printf '%s\n' "$input" | sed -n 's/.*"task_file" *: *"\([^"]*\)".*/\1/p')
name=$(basename "$task_file" .md)

if [ ! -f "texts/$name.txt" ]; then
	printf '\n### [%s] Implementor: %s\n\n**Facts:**\n- texts/%s.txt is missing\n\n**Analysis:**\n- There is nothing to count\n\n**Conclusion:**\n- Status: blocked\n' \
		"$(date '+%Y-%m-%d %H:%M:%S')" "$name" "$name" >>"$task_file"
	printf '{"status": "blocked", "message": "texts/%s.txt is missing"}\n' "$name"
	exit 0
fi

mkdir -p out
words=$(wc -w <"texts/$name.txt" | tr -d ' ')
printf '%s\n' "$words" >"out/$name.txt"
printf '\n### [%s] Implementor: %s\n\n**Facts:**\n- texts/%s.txt has %s words\n\n**Analysis:**\n- A word is what stands between blanks\n\n**Conclusion:**\n- Status: ok\n' \
	"$(date '+%Y-%m-%d %H:%M:%S')" "$name" "$name" "$words" >>"$task_file"
printf '{"status": "ok", "message": "%s has %s words"}\n' "$name" "$words"

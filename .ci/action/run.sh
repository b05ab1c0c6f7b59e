#!/usr/bin/env bash
# Runs boards, for action.yml: it turns the inputs of the action into arguments, and becomes
# kanban-run.
set -euo pipefail
# shellcheck source=SCRIPTDIR/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

# read_lines TEXT puts the lines of TEXT that are not blank into the array lines, trimmed.
read_lines() {
  local line
  lines=()
  while IFS= read -r line; do
    line=$(trim "$line")
    [[ -z $line ]] || lines+=("$line")
  done <<<"$1"
}

enter() {
  local folder
  folder=$(trim "$1")
  case $folder in
    /*) ;;
    *) folder=./$folder ;; # neither an option nor "-", the previous folder
  esac
  CDPATH='' cd -- "$folder" 2>/dev/null ||
    refuse invalid 2 "working-directory: there is no folder $1 that can be entered; hint: does the job check out the repository first?"
}

enter "$ACTION_WORKING_DIRECTORY"

set -- run
agent=$(trim "$ACTION_AGENT")
[[ -z $agent ]] || set -- "$@" --agent "$agent"

strict=$(trim "$ACTION_STRICT")
[[ -z $strict ]] || set -- "$@" "--strict=$strict"

results=$(trim "$ACTION_RESULTS")
[[ -z $results ]] || set -- "$@" "--results=$results"

case $(trim "$ACTION_REPORT") in
  '') ;;
  html)
    # The name of an artifact: a called workflow has the same names of jobs and steps each time that it is called.
    page=${ACTION_PAGE%.html}-$(date +%s)-$RANDOM$RANDOM.html
    set -- "$@" "--html=$page"
    printf 'page=%s\n' "$page" >>"$GITHUB_OUTPUT"
    ;;
  *) refuse invalid 2 "report: $ACTION_REPORT is no form of a report; hint: report: html, or nothing" ;;
esac

read_lines "$ACTION_ARGS"
set -- "$@" ${lines[@]+"${lines[@]}"} -- # bash 3.2 reports an empty array as an unset variable

read_lines "$ACTION_BOARDS"
[[ ${#lines[@]} -gt 0 ]] || refuse invalid 2 "boards: no board is named; hint: boards: path/to/kanban.yaml, one per line"
for line in "${lines[@]}"; do
  matches=("$line")
  if [[ $line == *[*?[]* && ! -e $line ]]; then
    IFS='' # a match may have blanks in it
    shopt -s nullglob
    # shellcheck disable=SC2206 # the line is a pattern
    matches=($line)
    shopt -u nullglob
    unset IFS
    [[ ${#matches[@]} -gt 0 ]] || refuse invalid 2 "boards: no file matches $line; hint: paths start at working-directory"
  fi
  set -- "$@" "${matches[@]}"
done

program=$ACTION_PROGRAM
unset ACTION_PROGRAM ACTION_BOARDS ACTION_WORKING_DIRECTORY ACTION_AGENT ACTION_STRICT ACTION_RESULTS ACTION_REPORT ACTION_PAGE ACTION_ARGS
export KANBAN_RUN_ACTION=1
exec "$program" "$@"

# shellcheck shell=bash
# What the scripts of the action share. All of them keep to bash 3.2, which is what macOS has.

# refuse OUTCOME CODE MESSAGE ends the step in red. Its outputs say why, as those of kanban-run do.
refuse() {
  local message="$3 (exit code $2)"
  printf 'outcome=%s\ntext=%s\nexit-code=%s\nsteps=0\ncost=unknown\njournal=\n' "$1" "${3//$'\n'/ }" "$2" >>"$GITHUB_OUTPUT"
  printf '::error title=kanban-run::%s\n' "$(escape "$message")"
  exit "$2"
}

# escape TEXT prints it so that it stays one line of data in a workflow command.
escape() {
  local text=$1
  text=${text//%/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '%s' "$text"
}

# trim TEXT prints it without blanks around it.
trim() {
  local text=$1
  text=${text#"${text%%[![:space:]]*}"}
  text=${text%"${text##*[![:space:]]}"}
  printf '%s' "$text"
}

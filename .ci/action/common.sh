# shellcheck shell=bash
# Functions that the scripts of the action share. All scripts keep to bash 3.2, the version of
# macOS.

# refuse OUTCOME CODE MESSAGE ends the step as failed, with exit code CODE. It sets the outputs that
# kanban-run sets, with the reason.
refuse() {
  local message="$3 (exit code $2)"
  printf 'outcome=%s\ntext=%s\nexit-code=%s\nsteps=0\ncost=unknown\njournal=\n' "$1" "${3//$'\n'/ }" "$2" >>"$GITHUB_OUTPUT"
  printf '::error title=kanban-run::%s\n' "$(escape "$message")"
  exit "$2"
}

# escape TEXT prints TEXT, escaped so that it is one line of data in a workflow command.
escape() {
  local text=$1
  text=${text//%/%25}
  text=${text//$'\r'/%0D}
  text=${text//$'\n'/%0A}
  printf '%s' "$text"
}

# trim TEXT prints TEXT without white space around it.
trim() {
  local text=$1
  text=${text#"${text%%[![:space:]]*}"}
  text=${text%"${text##*[![:space:]]}"}
  printf '%s' "$text"
}

# The command that prints a SHA-256: sha256sum on Linux, shasum on macOS.
sha256=(sha256sum)
command -v sha256sum >/dev/null || sha256=(shasum -a 256)

# digest prints the SHA-256 of its input.
digest() { "${sha256[@]}" | cut -d ' ' -f 1; }

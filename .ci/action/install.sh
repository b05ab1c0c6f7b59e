#!/usr/bin/env bash
# Installs kanban-run, for action.yml: it takes a release if one is asked for, else an earlier build
# if there is one, else it builds the action's own source.
set -euo pipefail
# shellcheck source=SCRIPTDIR/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
# shellcheck source=SCRIPTDIR/release.sh
. "${BASH_SOURCE[0]%/*}/release.sh"

main() {
  local built=false
  source_folder=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
  folder=$ACTION_FOLDER
  if [[ -n $(trim "$ACTION_VERSION$ACTION_DIGEST") ]]; then
    begin
    download "$folder"
    start
  elif ! "$folder/kanban-run" version 2>/dev/null; then
    begin
    build
    start
    built=true
  fi
  printf 'program=%s\nbuilt=%s\n' "$folder/kanban-run" "$built" >>"$GITHUB_OUTPUT"
  printf '%s\n' "$folder" >>"$GITHUB_PATH" # later steps can say `kanban-run log`
  trap - EXIT
}

# begin makes the folder. After an error it is removed.
begin() {
  platform
  mkdir -p "$folder"
  trap 'rm -rf "$folder"' EXIT
}

start() { "$folder/kanban-run" version || refuse failed 1 "the installed kanban-run does not start"; }

# platform ends the step with an error on a system on which the action was not tried.
platform() {
  case $(uname -s) in
    Linux | Darwin) ;;
    *) refuse invalid 2 "this action runs on Linux and macOS, not on $(uname -s); hint: runs-on: ubuntu-latest" ;;
  esac
}

build() {
  local need have vcs=false label=${ACTION_REF:-dev}
  local hint="add a step with \`uses: actions/setup-go@v6\` before this one"
  command -v go >/dev/null || refuse invalid 2 "Go is needed to build kanban-run and is not installed on this runner; hint: $hint"

  cd "$source_folder"
  # The job may have set these for a build for another system, or for its own Go workspace.
  unset GOOS GOARCH GOFLAGS GOEXPERIMENT
  export GOWORK=off CGO_ENABLED=0
  need=$(sed -n 's/^go \([0-9.]*\).*/\1/p' go.mod)
  # If GOTOOLCHAIN allows it, an old Go fetches the version that go.mod asks for, and this new one
  # answers.
  have=$(go env GOVERSION) || refuse invalid 2 "kanban-run needs Go $need, and the Go of this runner cannot fetch it; hint: $hint"
  ! older "${have#go}" "$need" || refuse invalid 2 "kanban-run needs Go $need, and this runner has ${have:-an old one}; hint: $hint"

  [[ $label =~ ^[A-Za-z0-9._/-]+$ ]] || label=dev
  # Only of a clone that is the action's own: a user may have unpacked it in a repository, or git refuses another user's.
  [[ -e .git ]] && git status --porcelain >/dev/null 2>&1 && vcs=true
  go build -trimpath -buildvcs=$vcs -mod=readonly -ldflags "-s -w -X main.version=$label" -o "$folder/kanban-run" ./cmd/kanban-run ||
    refuse failed 1 "kanban-run could not be built; what Go says stands above"
}

# older A B reports whether Go A is older than Go B. An empty A is older; a version that is no
# release, such as a development version, is not.
older() {
  [[ -n $1 ]] || return 0
  [[ $1 =~ ^([0-9]+)\.([0-9]+) ]] || return 1
  local major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  [[ $2 =~ ^([0-9]+)\.([0-9]+) ]] || return 1
  ((major < BASH_REMATCH[1] || (major == BASH_REMATCH[1] && minor < BASH_REMATCH[2])))
}

main

#!/usr/bin/env bash
# Installs kanban-run, for action.yml: builds it from the action's own source, or downloads a release whose checksum the action knows.
set -euo pipefail
# shellcheck source=SCRIPTDIR/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"

main() {
  local version
  source_folder=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
  version=$(trim "$ACTION_VERSION")
  platform
  folder=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/kanban-run.XXXXXX")
  trap 'rm -rf "$folder"' EXIT # a refusal leaves nothing

  if [[ -z $version ]]; then
    build
  else
    download "$version"
  fi
  "$folder/kanban-run" version || refuse failed 1 "the installed kanban-run does not start"

  printf 'program=%s\n' "$folder/kanban-run" >>"$GITHUB_OUTPUT"
  printf '%s\n' "$folder" >>"$GITHUB_PATH" # later steps can say `kanban-run log`
  trap - EXIT
}

# platform names the runner's system as releases do.
platform() {
  case $(uname -s) in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) refuse invalid 2 "this action runs on Linux and macOS, not on $(uname -s); hint: runs-on: ubuntu-latest" ;;
  esac
  case $(uname -m) in
    x86_64 | amd64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) arch=$(uname -m) ;;
  esac
}

build() {
  local need have label=${ACTION_REF:-dev}
  local hint="add a step with \`uses: actions/setup-go@v6\` before this one, or name a release by \`version\`"
  command -v go >/dev/null || refuse invalid 2 "Go is needed to build kanban-run and is not installed on this runner; hint: $hint"

  cd "$source_folder"
  # The job may be set up for another system, or for a workspace of its own.
  unset GOOS GOARCH GOFLAGS GOEXPERIMENT
  export GOWORK=off CGO_ENABLED=0
  need=$(sed -n 's/^go \([0-9.]*\).*/\1/p' go.mod)
  # An old Go fetches the one that go.mod asks for, if GOTOOLCHAIN lets it: then it is the new one that answers.
  have=$(go env GOVERSION) || refuse invalid 2 "kanban-run needs Go $need, and the Go of this runner cannot fetch it; hint: $hint"
  ! older "${have#go}" "$need" || refuse invalid 2 "kanban-run needs Go $need, and this runner has ${have:-an old one}; hint: $hint"

  [[ $label =~ ^[A-Za-z0-9._/-]+$ ]] || label=dev
  go build -trimpath -buildvcs=false -mod=readonly -ldflags "-s -w -X main.version=$label" -o "$folder/kanban-run" ./cmd/kanban-run ||
    refuse failed 1 "kanban-run could not be built; what Go says stands above"
}

# older A B: is Go A older than Go B? What is no release, such as a development version, is not.
older() {
  [[ -n $1 ]] || return 0
  [[ $1 =~ ^([0-9]+)\.([0-9]+) ]] || return 1
  local major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
  [[ $2 =~ ^([0-9]+)\.([0-9]+) ]] || return 1
  ((major < BASH_REMATCH[1] || (major == BASH_REMATCH[1] && minor < BASH_REMATCH[2])))
}

download() {
  local version=v${1#v} repository=${ACTION_REPOSITORY:-$GITHUB_REPOSITORY} file want got url
  [[ $version =~ ^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$ ]] ||
    refuse invalid 2 "version: $1 is not the name of a release; hint: such as v1.2.3, or empty to build from source"
  file=kanban-run_${version#v}_${os}_${arch}.tar.gz
  want=$(checksum_of "$file")
  [[ -n $want ]] ||
    refuse invalid 2 "version: this version of the action has no checksum for $file, so it would not know what it gets; hint: use a newer version of the action, or leave version empty to build from source"
  command -v curl >/dev/null || refuse invalid 2 "curl is needed to download a release and is not installed on this runner"

  url=$GITHUB_SERVER_URL/$repository/releases/download/$version/$file
  echo "Downloading $url"
  curl --fail --silent --show-error --location --retry 3 --retry-all-errors --connect-timeout 20 --max-time 300 --output "$folder/$file" "$url" ||
    refuse failed 1 "$url cannot be downloaded; what curl says stands above"
  got=$(sha256 "$folder/$file")
  [[ $got == "$want" ]] || refuse failed 1 "$url is not the file that was released: its SHA-256 is $got, and should be $want; it was not unpacked"
  tar -xzf "$folder/$file" -C "$folder" kanban-run || refuse failed 1 "$file has no program kanban-run"
  rm "$folder/$file"
}

# checksum_of FILE prints what checksums.txt says of it; nothing when it says nothing.
checksum_of() {
  local sum name
  while read -r sum name; do
    if [[ $name == "$1" ]]; then
      printf '%s' "$sum"
      return
    fi
  done <"$source_folder/.ci/action/checksums.txt"
}

# sha256 FILE: Linux has the one program, macOS the other.
sha256() {
  if command -v sha256sum >/dev/null; then
    sha256sum <"$1"
  else
    shasum -a 256 <"$1"
  fi | cut -d ' ' -f 1
}

main

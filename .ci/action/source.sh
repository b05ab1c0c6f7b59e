#!/usr/bin/env bash
# Sets the name and the folder of the build of kanban-run, for action.yml. The name holds the
# system, the digest of the source, and the digest of what the program says that it is: the version
# and the commit, or the release that is taken instead of a build.
set -euo pipefail
# shellcheck source=SCRIPTDIR/common.sh
. "${BASH_SOURCE[0]%/*}/common.sh"
cd "${BASH_SOURCE[0]%/*}/../.."

source=$(find . \( -name '*.go' -o -name 'go.*' -o -path './roles/*' -o -path './schema/*' -o -path './docs/*' -o -path './orchestrator/page/*' -o -path './cmd/*' \) -type f ! -path './.git/*' -print0 |
  LC_ALL=C sort -z | xargs -0 "${sha256[@]}" | digest)
commit=
[[ ! -e .git ]] || commit=$(git rev-parse HEAD 2>/dev/null) || true # a clone of another user has none
version=$(printf '%s\n' "$ACTION_REF" "$ACTION_VERSION" "$commit" | digest)
# An agent of an earlier step may have put a program there. Without RUNNER_TEMP nobody can know the name.
folder=${RUNNER_TEMP:-$(mktemp -d)}/kanban-run-build-${source:0:12}-${version:0:12}
rm -rf "$folder"
{
  printf 'key=kanban-run-%s-%s-%s\n' "$(uname -s)-$(uname -m)" "$source" "$version"
  # A job may use two versions of the action.
  printf 'folder=%s\n' "$folder"
} >>"$GITHUB_OUTPUT"

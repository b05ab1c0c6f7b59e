#!/usr/bin/env bash
# Sets the name and the folder of the build of kanban-run, for action.yml. The name holds the
# system, the digest of the source and the digest of the version's name.
set -euo pipefail
cd "${BASH_SOURCE[0]%/*}/../.."

# The command that prints a SHA-256: sha256sum on Linux, shasum on macOS.
sha256=(sha256sum)
command -v sha256sum >/dev/null || sha256=(shasum -a 256)

# digest prints the SHA-256 of its input.
digest() { "${sha256[@]}" | cut -d ' ' -f 1; }

source=$(find . \( -name '*.go' -o -name 'go.*' -o -path './roles/*' -o -path './schema/*' -o -path './docs/*' -o -path './orchestrator/page/*' -o -path './cmd/*' \) -type f ! -path './.git/*' -print0 |
  LC_ALL=C sort -z | xargs -0 "${sha256[@]}" | digest)
version=$(printf '%s' "$ACTION_REF" | digest)
# An agent of an earlier step may have put a program there. Without RUNNER_TEMP nobody can know the name.
folder=${RUNNER_TEMP:-$(mktemp -d)}/kanban-run-build-${source:0:12}-${version:0:12}
rm -rf "$folder"
{
  printf 'key=kanban-run-%s-%s-%s\n' "$(uname -s)-$(uname -m)" "$source" "$version"
  # A job may use two versions of the action.
  printf 'folder=%s\n' "$folder"
} >>"$GITHUB_OUTPUT"

#!/usr/bin/env bash
# Builds the image with buildah, on a Debian and a Go that are put together here instead of fetched, and runs a board in it. As root.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
b() { buildah --root "$work/store" --runroot "$work/run" "$@"; }
trap 'b rm --all >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

debootstrap --variant=minbase --include=ca-certificates,git bookworm "$work/debian" >"$work/log" || { cat "$work/log"; exit 1; }
cp /etc/resolv.conf "$work/debian/etc/"
base=$(b from scratch)
b copy --quiet "$base" "$work/debian" / >/dev/null
b commit --quiet "$base" localhost/debian >/dev/null
b copy --quiet "$base" "$(go env GOROOT)" /usr/local/go >/dev/null
b config --env PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin "$base"
b commit --quiet "$base" localhost/go >/dev/null

# A clone, with what is not committed yet. The modules are fetched here: a registry may not be reached from the image.
go list -C "$top" -deps ./cmd/kanban-run >/dev/null
go list -C "$top/cmd/kanban-run-temporal" -deps . >/dev/null
git clone --quiet "$top" "$work/source"
git -C "$top" ls-files -z --cached --others --exclude-standard | (cd "$top" && xargs -0 cp --parents -t "$work/source")
b bud --quiet --network host --volume "$(go env GOMODCACHE):/root/go/pkg/mod" --build-arg VERSION=v0.0.0 --build-arg GO=localhost/go --build-arg BASE=localhost/debian \
  -f "$work/source/examples/container/Containerfile" -t kanban-run "$work/source" >/dev/null

image=$(b from kanban-run)
b inspect --type image --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}} {{.OCIv1.Config.WorkingDir}}' kanban-run | grep -x 'kanban \[kanban-run\] /work'
b run --user kanban "$image" -- kanban-run version | tee "$work/version"
grep -q "^kanban-run v0.0.0 (.*, commit $(git -C "$top" rev-parse --short=12 HEAD) of " "$work/version"
# shellcheck disable=SC2016 # the image's shell expands it
b run --user kanban "$image" -- sh -euc '
  test "$(id -u)" = 10001
  ! touch /usr/local/bin/x 2>/dev/null
  kanban-run init demo >/dev/null && cd demo
  kanban-run --quiet --agent stub kanban.yaml
  git --version
  kanban-run-temporal worker --help | grep -q -- --repository'

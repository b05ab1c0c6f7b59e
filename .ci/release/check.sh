#!/usr/bin/env bash
# Builds all that a release holds, twice, and looks into it; then installs, runs and removes it in a fresh Debian. As root.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

main() {
  build
  archives
  taken
  packages
  installed
  sources
  debootstrap --variant=minbase bookworm "$root" >"$work/log" || { cat "$work/log"; exit 1; }
  unpacked
  package
}

fail() { echo "$*" >&2; exit 1; }

# same FILE FILE ends the check unless the two lists are the same, and not empty.
same() {
  [ -s "$1" ] || fail "${1##*/} is empty"
  diff -u "$1" "$2" || fail "${1##*/} and ${2##*/} differ"
}

# build leaves a release in bin/release. The second build must have the same bytes.
build() {
  local goreleaser
  goreleaser=$(go tool -n -modfile=.ci/tools/goreleaser/go.mod goreleaser)
  for sums in first second; do
    "$goreleaser" release --snapshot --clean >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cp bin/release/checksums.txt "$work/$sums"
  done
  same "$work/first" "$work/second"
  (cd bin/release && sha256sum --check --quiet checksums.txt && ls -- *.tar.gz *.deb *.rpm) >"$work/files"
  cut -d ' ' -f 3 bin/release/checksums.txt | sort >"$work/named"
  sort "$work/files" >"$work/there"
  same "$work/there" "$work/named"
  [ "$(wc -l <"$work/files")" = 8 ] || fail "want 4 archives and 4 packages, not $(cat "$work/files")"
  (cd bin/share && find . -type f | sort) >"$work/share"
  groff -man -Tutf8 -ww bin/share/man/man1/*.1 2>&1 >/dev/null | (! grep .) || fail "roff warns of a man page"
}

# archives looks into the four archives.
archives() {
  local os arch top
  for os in linux darwin; do
    for arch in amd64 arm64; do
      mkdir "$work/$os-$arch"
      tar xzf bin/release/kanban-run_*_"${os}_$arch".tar.gz -C "$work/$os-$arch"
      top=$(echo "$work/$os-$arch"/kanban-run_*_"${os}_$arch")
      cmp LICENSE "$top/LICENSE"
      cmp README.md "$top/README.md"
      diff -r bin/share "$top/share"
      go version -m "$top/kanban-run" >"$work/built"
      for setting in "GOOS=$os" "GOARCH=$arch" CGO_ENABLED=0 -trimpath=true "vcs.revision=$(git rev-parse HEAD)"; do
        grep -q -- "$setting\$" "$work/built" || fail "$top/kanban-run is not built with $setting"
      done
    done
  done
}

# taken has the action take an archive, as if it were published under the version that it is named after.
taken() {
  local version
  version=$(basename bin/release/kanban-run_*_linux_amd64.tar.gz _linux_amd64.tar.gz)
  version=v${version#kanban-run_}
  mkdir -p "$work/forge/OWNER/kanban-run/releases/download"
  ln -s "$PWD/bin/release" "$work/forge/OWNER/kanban-run/releases/download/$version"
  GITHUB_SERVER_URL=file://$work/forge ACTION_REPOSITORY=OWNER/kanban-run ACTION_FOLDER=$work/taken \
    ACTION_VERSION=$version ACTION_DIGEST=$(cut -d ' ' -f 1 bin/release/checksums.txt) \
    GITHUB_OUTPUT=$work/outputs GITHUB_PATH=$work/path bash .ci/action/install.sh
  cmp "$work/taken/kanban-run" "$work/linux-$(go env GOARCH)"/*/kanban-run
}

# packages holds the packages of both kinds to one list of files.
packages() {
  local arch
  { sed 's|^\.|/usr/share|' "$work/share" && printf '%s\n' /usr/bin/kanban-run /usr/share/doc/kanban-run/copyright; } | sort >"$work/wanted"
  for arch in amd64 arm64; do
    dpkg-deb --fsys-tarfile bin/release/kanban-run_*_linux_"$arch".deb | tar t | sed -n 's|^\.\(.*[^/]\)$|\1|p' | sort >"$work/deb-$arch"
    rpm --query --list --package bin/release/kanban-run_*_linux_"$arch".rpm | sort >"$work/rpm-$arch"
    same "$work/deb-$arch" "$work/wanted"
    same "$work/rpm-$arch" "$work/wanted"
  done
}

# installed holds make install to that list, too, but for the licence; make uninstall leaves none of it, and what
# another program has beside it.
installed() {
  local other="$work/dest dir/usr/share/man/man1/kanban-run-temporal.1"
  make --no-print-directory install DESTDIR="$work/dest dir" PREFIX=/usr >"$work/log"
  (cd "$work/dest dir" && find . -type f | sed 's/^\.//' | sort) >"$work/make-install"
  grep -v /copyright "$work/wanted" >"$work/wanted-of-make"
  same "$work/make-install" "$work/wanted-of-make"
  touch "$other"
  make --no-print-directory uninstall DESTDIR="$work/dest dir" PREFIX=/usr >"$work/log"
  find "$work/dest dir" -type f >"$work/left"
  [ "$(cat "$work/left")" = "$other" ] || fail "make uninstall leaves $(cat "$work/left")"
}

# sources builds from a source archive, which has no .git, and looks whether the program knows its commit.
sources() {
  mkdir "$work/source"
  git archive HEAD | tar x -C "$work/source"
  go build -C "$work/source" -buildvcs=false -o "$work/from-archive" ./cmd/kanban-run
  "$work/from-archive" version | tee "$work/version"
  grep -q "commit $(git rev-parse --short=12 HEAD) of $(TZ=UTC0 git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd))\$" "$work/version" ||
    fail "a build from an archive does not name its commit"
}

# within COMMAND... runs a command in the fresh root, with processes of its own.
within() { unshare --mount --pid --fork --mount-proc="$root/proc" chroot "$root" env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }

# board PROGRAM runs a board in the fresh root as a user.
board() {
  # shellcheck disable=SC2016 # the shell in the root expands it
  unshare --mount --pid --fork --mount-proc="$root/proc" chroot --userspec=1000:1000 "$root" \
    env -i HOME=/home/user PATH=/usr/bin:/bin sh -euc '
      cd && rm -rf demo
      "$1" version
      "$1" init demo >/dev/null && cd demo
      "$1" --quiet --agent stub kanban.yaml
      "$1" status | grep complete' board "$1"
}

# unpacked runs the program of an archive where nothing is installed.
unpacked() {
  within useradd --create-home --uid 1000 user
  mkdir "$root/opt/kanban-run"
  tar xzf bin/release/kanban-run_*_linux_"$(go env GOARCH)".tar.gz --strip-components 1 -C "$root/opt/kanban-run"
  board /opt/kanban-run/kanban-run
  rm -r "$root/opt/kanban-run"
}

# package installs the package, runs it, and removes it: all files are as before.
package() {
  everything >"$work/before"
  cp bin/release/kanban-run_*_linux_"$(go env GOARCH)".deb "$root/tmp/kanban-run.deb"
  within dpkg --install /tmp/kanban-run.deb
  board kanban-run
  everything >"$work/with-package"
  comm -13 "$work/before" "$work/with-package" >"$work/added"
  while read -r file; do
    grep -qxF "$file" "$work/added" || fail "the package did not install $file"
  done <"$work/wanted"
  within dpkg --purge kanban-run
  everything >"$work/after"
  same "$work/before" "$work/after"
  echo "the package is removed, and nothing of it is left"
}

# everything lists the files of the fresh root but for those of its user and what dpkg keeps of its own.
everything() { (cd "$root" && find . -path ./proc -prune -o -path ./home -prune -o -path ./tmp -prune -o -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -print | sed 's/^\.//' | sort); }

main

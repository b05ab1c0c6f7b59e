# shellcheck shell=bash
# Functions of install.sh that take kanban-run from a release.

# download FOLDER puts the program of the release ACTION_VERSION into the folder. It unpacks the archive
# only if its SHA-256 is in ACTION_DIGEST: a release can be replaced, what has a digest cannot.
download() {
  local folder=$1 version archive address status have
  version=$(trim "$ACTION_VERSION")
  [[ $version =~ ^v[0-9][A-Za-z0-9.+-]*$ ]] ||
    refuse invalid 2 "version: \"$version\" is not the name of a release, which begins with v and a digit; hint: without version the action builds kanban-run"
  name_archive "${version#v}"
  read_digests
  address=$GITHUB_SERVER_URL/${ACTION_REPOSITORY:-$GITHUB_REPOSITORY}/releases/download/$version/$archive
  status=$(curl --fail --silent --show-error --location --retry 3 --max-time 300 --output "$folder/$archive" --write-out '%{http_code}' "$address") ||
    case $status in
      404) refuse invalid 2 "version: there is no $address" ;;
      *) refuse failed 1 "$address could not be downloaded; what curl says stands above" ;;
    esac
  have=$(digest <"$folder/$archive")
  [[ " ${digests[*]} " == *" $have "* ]] ||
    refuse invalid 2 "digest: $archive has the SHA-256 $have, which is not given; nothing was unpacked"
  tar xzf "$folder/$archive" --strip-components 1 -C "$folder" "${archive%.tar.gz}/kanban-run" ||
    refuse failed 1 "$archive could not be unpacked; what tar says stands above"
  rm "$folder/$archive"
}

# name_archive VERSION sets the variable archive to the name of the archive for this system.
name_archive() {
  local os arch
  case $(uname -s) in Linux) os=linux ;; Darwin) os=darwin ;; esac # others end in the function platform
  case $(uname -m) in
    x86_64) arch=amd64 ;;
    aarch64 | arm64) arch=arm64 ;;
    *) refuse invalid 2 "version: no release has an archive for $(uname -m); hint: without version the action builds kanban-run" ;;
  esac
  archive=kanban-run_$1_${os}_$arch.tar.gz
}

# read_digests sets the array digests to the words of ACTION_DIGEST. There are several if a job runs
# on several systems.
read_digests() {
  local word
  read -r -d '' -a digests <<<"$ACTION_DIGEST" || true # it reports the end of the text
  [[ ${#digests[@]} -gt 0 ]] ||
    refuse invalid 2 "digest: version needs the SHA-256 of $archive; hint: it is in the release's checksums.txt"
  for word in "${digests[@]}"; do
    [[ $word =~ ^[0-9a-f]{64}$ ]] || refuse invalid 2 "digest: $word is no SHA-256, 64 digits of 0-9 and a-f"
  done
}

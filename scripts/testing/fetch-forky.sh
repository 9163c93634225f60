#!/usr/bin/env bash
# Unpacks packages of Debian forky into a folder without installing them:
#
#   scripts/testing/fetch-forky.sh FOLDER PACKAGE...
#
# The tests need programs that Debian's stable release lacks (litewitness, of torchwood; nats-server).
# The installed apt sources are copied with their release replaced; lists, cache and packages stay in
# FOLDER, so nothing of the machine changes. A package whose folder is there is not fetched again.
set -euo pipefail
if (($# < 2)); then
  echo "usage: fetch-forky.sh FOLDER PACKAGE..." >&2
  exit 2
fi
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
shift
missing=()
for package in "$@"; do
  [[ -d "$folder/$package" ]] || missing+=("$package")
done
((${#missing[@]} > 0)) || exit 0

apt="$folder/.apt"
mkdir -p "$apt/sources" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/debs"
codename="$(. /etc/os-release && echo "${VERSION_CODENAME:?}")"
# Only the main archive: updates and security have suites of their own.
for file in /etc/apt/sources.list.d/*.sources; do
  [[ -e "$file" ]] || continue
  awk -v RS= -v ORS='\n\n' '!/-security/' "$file" |
    sed -E "s/^Suites:.*/Suites: forky/" >"$apt/sources/$(basename "$file")"
done
if [[ -s /etc/apt/sources.list ]]; then
  grep -E "^deb .*\b$codename main" /etc/apt/sources.list |
    sed -E "s/\b$codename\b/forky/" >"$apt/sources/main.list" || true
fi
options=(
  -o "Dir::Etc::sourcelist=/dev/null"
  -o "Dir::Etc::sourceparts=$apt/sources"
  -o "Dir::State::lists=$apt/lists"
  -o "Dir::Cache=$apt/cache"
  -o "Dir::Cache::archives=$apt/cache/archives"
  -o "APT::Sandbox::User=root"
  -o "APT::Default-Release="
  -o "Acquire::Languages=none"
)
apt-get "${options[@]}" -qq update
for package in "${missing[@]}"; do
  rm -rf "$apt/debs/$package" "$folder/$package.partial"
  mkdir -p "$apt/debs/$package"
  (cd "$apt/debs/$package" && apt-get "${options[@]}" -qq download "$package/forky")
  dpkg-deb -x "$apt/debs/$package"/*.deb "$folder/$package.partial"
  mv "$folder/$package.partial" "$folder/$package"
done

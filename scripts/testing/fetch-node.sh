#!/usr/bin/env bash
# Installs releases of Node into a folder, from npm's platform packages:
#
#   scripts/testing/fetch-node.sh FOLDER VERSION...
#
# The tests need other ones than the pinned: the oldest that clients may run on, and a later one that must
# replay the same log to the same hashes. FOLDER/VERSION/node_modules/.bin/node is the program.
set -euo pipefail
if (($# < 2)); then
  echo "usage: fetch-node.sh FOLDER VERSION..." >&2
  exit 2
fi
mkdir -p "$1"
folder="$(cd "$1" && pwd)"
shift
case "$(uname -m)" in
  aarch64 | arm64) arch=arm64 ;;
  *) arch=x64 ;;
esac
for version in "$@"; do
  [[ -x "$folder/$version/node_modules/.bin/node" ]] && continue
  mkdir -p "$folder/$version"
  echo '{"private":true}' >"$folder/$version/package.json"
  npm install --prefix "$folder/$version" --no-save --no-package-lock --loglevel=error \
    "node-linux-$arch@$version"
done

#!/usr/bin/env bash
# Builds the window and starts it. Without a display it builds the command line instead, prints the report of the start
# scenario and draws its figures into ./roofscape-output. Installs the Debian packages that are missing first (root or sudo).
#   ./run.sh [--deps] [arguments of the app]      --deps: install what is missing and stop
#   ./run.sh --cli [arguments of roofscape-cli]   build the command line and run it
#   ./run.sh --install [PREFIX]                   install the programs, below /usr/local if not told otherwise
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/packages.sh
. "$here/scripts/packages.sh"

if [ "${1:-}" = --help ] || [ "${1:-}" = -h ]; then
  sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
fi

install_missing "${build_packages[@]}"
if [ "${1:-}" = --deps ]; then
  echo "Everything needed to build and run is installed."
  exit 0
fi

if [ "${1:-}" = --install ]; then
  prefix=${2:-/usr/local}
  mkdir -p "$prefix" 2>/dev/null || true
  root=()
  if [ ! -w "$prefix" ] && [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "$prefix cannot be written to; run this as root" >&2; exit 1; }
    root=(sudo)
  fi
  prefix=$(realpath -m "$prefix")
  (cd "$here" && cmake --preset release -Wno-dev -DCMAKE_INSTALL_PREFIX="$prefix" >&2)
  build_preset "$here" release packaging
  exec "${root[@]}" cmake --install "$here/build/release" --strip
fi

app=$here/build/release/app
if [ "${1:-}" = --cli ]; then
  build_preset "$here" release roofscape-cli
  exec "$app/roofscape-cli" "${@:2}"
fi

if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  build_preset "$here" release roofscape
  cd "$here"
  exec "$app/roofscape" "$@"
fi

build_preset "$here" release roofscape-cli
output=$PWD/roofscape-output
cd "$here"

scenario=llama3-405b-16k-h100-8k
mkdir -p "$output"
"$app/roofscape-cli" eval "$scenario" | tee "$output/report.txt"
for figure in pipeline memory step; do
  for format in svg pdf png; do
    "$app/roofscape-cli" figure "$figure" "$scenario" -o "$output/$figure.$format"
  done
done
echo
echo "There is no display. The report and its figures (SVG, PDF, PNG) are in $output:"
ls "$output"

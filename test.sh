#!/usr/bin/env bash
# Builds Roofscape and runs its tests, then once more under the address and undefined-behaviour sanitizers when --sanitize is
# given, or, but for the window's tests, when CI is set. Installs the Debian packages that are missing first (root or sudo).
#   ./test.sh [--deps] [--sanitize | --no-sanitize]      --deps: install what is missing and stop
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/packages.sh
. "$here/scripts/packages.sh"

sanitize=${CI:+asan-headless}
for argument in "$@"; do
  case $argument in
    --deps)
      install_missing "${test_packages[@]}"
      echo "Everything needed to build and test is installed."
      exit 0
      ;;
    --sanitize) sanitize=asan ;;
    --no-sanitize) sanitize= ;;
    -h | --help)
      sed -n '2,4s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "test.sh: unknown argument $argument; see test.sh --help" >&2
      exit 2
      ;;
  esac
done

install_missing "${test_packages[@]}"
cd "$here"
cores=$(nproc 2>/dev/null || echo 2)
run_tests() {
  build_preset "$here" "$1"
  ctest --test-dir "build/$1" --output-on-failure --parallel "$cores"
}

run_tests release
if [ -n "$sanitize" ]; then
  export ASAN_OPTIONS="strict_string_checks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
  export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
  run_tests "$sanitize"
fi

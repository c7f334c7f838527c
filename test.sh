#!/usr/bin/env bash
# Builds Roofscape and runs its tests, then once more under the address and undefined-behaviour sanitizers when --sanitize is
# given; when CI is set, those of the engine and the loaders. Installs the Debian packages that are missing first (root or sudo).
# In CI the format of the sources is checked first. With --threads only what works beside the window is tested, under the
# thread sanitizer.
#   ./test.sh [--deps] [--sanitize | --no-sanitize | --threads | --fuzz SECONDS | --walk EVENTS]
# --deps: install what is missing and stop. --fuzz: every reader on bytes made up by libFuzzer, each so many seconds (clang).
# --walk: so many random events at the whole window, sanitized; 300000 take an hour and a half.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=scripts/packages.sh
. "$here/scripts/packages.sh"

sanitize=${CI:+asan-headless}
threads=
fuzz=
walk=
# count_of OPTION VALUE WHAT: ends the script unless the value is a whole number.
count_of() {
  case $2 in
    '' | *[!0-9]*)
      echo "test.sh: $1 takes $3" >&2
      exit 2
      ;;
  esac
}
while [ $# -gt 0 ]; do
  argument=$1
  shift
  case $argument in
    --deps)
      install_missing "${test_packages[@]}"
      echo "Everything needed to build and test is installed."
      exit 0
      ;;
    --sanitize) sanitize=asan ;;
    --no-sanitize) sanitize= ;;
    --threads) threads=1 ;;
    --fuzz)
      fuzz=${1:-}
      count_of --fuzz "$fuzz" "the seconds for each reader"
      shift
      ;;
    --walk)
      walk=${1:-}
      count_of --walk "$walk" "how many events"
      shift
      ;;
    -h | --help)
      sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
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
if [ -n "$fuzz" ]; then
  install_missing clang
  exec scripts/fuzz.sh "$fuzz"
fi
if [ -n "$walk" ]; then exec scripts/walk.sh "$walk"; fi
if [ -n "${CI:-}" ]; then
  install_missing clang-format-14
  scripts/check_format.sh
fi
cores=$(nproc 2>/dev/null || echo 2)
# run_tests PRESET [TEST PROGRAM...]: all there are, if none is named.
run_tests() {
  build_preset "$here" "$@"
  local programs=("${@:2}")
  ctest --test-dir "build/$1" --output-on-failure --parallel "$cores" ${programs:+--tests-regex "^($(IFS='|'; echo "${programs[*]}")):"}
}

if [ -n "$threads" ]; then
  run_tests tsan test_jobs
  exit 0
fi
run_tests release
if [ -n "$sanitize" ]; then
  export ASAN_OPTIONS="strict_string_checks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
  export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
  # Two cores build and run these in some minutes; blocks, figures and the command line take as long again.
  some=(test_engine test_search test_pipeline test_io)
  if [ "$sanitize" = asan ]; then some=(); fi
  run_tests "$sanitize" ${some[@]+"${some[@]}"}
fi

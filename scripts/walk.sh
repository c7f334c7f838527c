#!/usr/bin/env bash
# Builds the window's tests with the address and undefined-behaviour sanitizers, optimised, and runs random events at the
# whole window: some 3,000 a minute. Every tenth of the way it says what is allocated at rest.
#   scripts/walk.sh EVENTS [SEED]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"
# shellcheck source=scripts/packages.sh
. "$here/scripts/packages.sh"
events=${1:?how many events}
seed=${2:-$RANDOM}

build_preset "$here" asan-walk test_ui
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
echo "$events events, seed $seed"
# What is still held at the end is counted by the test itself, also what is reachable.
HOME=$home ASAN_OPTIONS="detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}" UBSAN_OPTIONS="print_stacktrace=1" \
  ROOFSCAPE_UI_EVENTS=$events ROOFSCAPE_UI_SEED=$seed \
  build/asan-walk/tests/app/test_ui --test-case="random events leave*"

#!/usr/bin/env bash
# Builds the libFuzzer targets with clang and the address and undefined-behaviour sanitizers, and runs each for so many
# seconds on what there is to begin with: the files of tests/fuzz and the scenarios that ship. What a target finds stays in
# build/fuzz/found, one file for each input that failed.
#   scripts/fuzz.sh SECONDS [TARGET...]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$here"
seconds=${1:?seconds for each target}
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  for source in tests/fuzz/fuzz_*.cpp; do targets+=("$(basename "$source" .cpp)"); done
fi

cmake -S . -B build/fuzz -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_RELEASE="-O1 -g1" \
  -DROOFSCAPE_FUZZ=ON -DROOFSCAPE_GUI=OFF -DROOFSCAPE_UNITY=ON >/dev/null
cmake --build build/fuzz --target "${targets[@]}"

# Where a target begins, and its dictionary.
seeds() {
  echo "tests/fuzz/${1#fuzz_}"
  case $1 in fuzz_scenario | fuzz_session) echo presets/scenarios ;; esac
}
dictionary() {
  case $1 in
    fuzz_launch) echo tests/fuzz/launch.dict ;;
    fuzz_typed) echo tests/fuzz/typed.dict ;;
    *) echo tests/fuzz/json.dict ;;
  esac
}
mkdir -p build/fuzz/found
failed=
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  existing=()
  for folder in $(seeds "$target"); do if [ -d "$folder" ]; then existing+=("$folder"); fi; done
  echo "$target, $seconds s"
  "build/fuzz/tests/fuzz/$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 \
    -dict="$(dictionary "$target")" -artifact_prefix="build/fuzz/found/$target-" "$corpus" "${existing[@]}" \
    >"build/fuzz/$target.log" 2>&1 || failed="$failed $target"
  grep -E "^stat::number_of_executed_units|ERROR|SUMMARY|runtime error" "build/fuzz/$target.log" || true
  grep -E "^#[0-9]+.* cov: " "build/fuzz/$target.log" | tail -1 || true
done
if [ -n "$failed" ]; then
  echo "Found something:$failed; see build/fuzz/*.log and build/fuzz/found" >&2
  exit 1
fi

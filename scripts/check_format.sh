#!/usr/bin/env bash
# Says which C++ sources differ from .clang-format. Releases of clang-format differ in what they write, so another one
# than the tree was formatted with is not asked.
#   scripts/check_format.sh [--fix]
set -euo pipefail

release=14
cd "$(dirname "${BASH_SOURCE[0]}")/.."
formatter=$(command -v "clang-format-$release" || command -v clang-format || true)
if [ -z "$formatter" ] || ! "$formatter" --version | grep -q "version $release\."; then
  echo "Format not checked: clang-format $release is not installed." >&2
  exit 0
fi
# New ones too, before they are added.
sources() { git ls-files -z --cached --others --exclude-standard '*.cpp' '*.h'; }
if [ "${1:-}" = --fix ]; then
  sources | xargs -0 "$formatter" -i
else
  sources | xargs -0 "$formatter" --dry-run --Werror
fi

#!/bin/sh
# Writes all goldens of figures (figure_*.txt) anew, from the test program given (default: the release build). Look at
# what changed before committing it: git diff --stat tests/golden.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
ROOFSCAPE_UPDATE_GOLDEN=1 "${1:-$top/build/release/tests/widgets/test_figures}" --test-case="figures are as their goldens*"

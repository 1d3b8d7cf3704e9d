#!/usr/bin/env bash
# Test on a fresh machine: the set-up of scripts/train.sh, then style, types and tests.
#
#   bash scripts/test.sh                    # everything
#   bash scripts/test.sh tests/nn -k mask   # pytest's own arguments
#
# TEST_PROCESSES=4 changes the number of test processes (2).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
set_up
cd "$root"

status=0
check() { "$@" || status=1; }

check "$venv_bin/python" -m ruff check .
check "$venv_bin/python" -m ruff format --check .
check "$venv_bin/python" -m mypy

# One thread each: test processes that all start a thread per core slow each other down.
export OMP_NUM_THREADS=1
check "$venv_bin/python" -m pytest -n "${TEST_PROCESSES:-2}" --dist worksteal "$@"
exit "$status"

#!/usr/bin/env bash
# Build the wheel, install it in a clean environment with the lock as constraints, and train from an empty directory.
# tests/test_wheel.py does the same with borrowed dependencies, in seconds; this takes the minutes of a set-up and is
# meant for before a release. Needs .venv (any of the other scripts makes it) for the build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
set_up

clean="$(mktemp -d)"
trap 'rm -rf "$clean"' EXIT
"$venv_python" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir "$clean" "$root"
"$venv_python" -m venv "$clean/venv"
clean_bin="$clean/venv/$(basename "$venv_bin")"
"$clean_bin/python" -m pip install --quiet --constraint "$root/requirements.lock" \
    --constraint "$root/constraints-cuda.txt" ${TORCH_INDEX_URL:+--extra-index-url "$TORCH_INDEX_URL"} "$clean"/minitx-*.whl
mkdir "$clean/empty"
cd "$clean/empty"
"$clean_bin/minitx" train trainer=smoke

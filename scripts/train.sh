#!/usr/bin/env bash
# Train on a fresh machine: make .venv and install everything if that has not been done, then run `minitx train`.
#
#   bash scripts/train.sh                              # the bundled toy corpus, one to two minutes on two cores
#   bash scripts/train.sh attention=additive seed=2    # any overrides of `minitx train`
#
# Works from any directory; runs/ and relative paths are those of the directory it is called from.
# PYTHON=/path/to/python chooses the Python, TORCH_INDEX_URL=ADDRESS a build of torch (see scripts/setup.sh).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
set_up
exec "$venv_bin/minitx" train "$@"

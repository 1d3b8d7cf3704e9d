#!/usr/bin/env bash
# The ablation of docs/results.md on one GPU, in ten minutes at most: what 1/√d_k does, and why. Several runs at a time
# share the GPU; the report at the end is made of those that are finished by then.
#
#   bash scripts/gpu_ablation.sh [MULTI30K [OUT]]
#
# With MULTI30K, a directory of train.en[.gz], train.de, val.en, …, its ablation follows that of the bundled corpus. OUT
# (gpu_ablation) must not exist yet; it gets runs/, multi30k_runs/ and their reports.
#
#   DEVICE=cpu        on the processor instead
#   QUICK=1           tiny runs: does everything work?
#   JOBS=8            runs at a time
#   MINITX=COMMAND    as in timed_parts.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/timed_parts.sh"

[ $# -le 2 ] || refuse "Usage: bash scripts/gpu_ablation.sh [MULTI30K [OUT]]"
corpus="${1:-}"
[ -z "$corpus" ] || [ -f "$corpus/train.en" ] || [ -f "$corpus/train.en.gz" ] ||
    refuse "$corpus holds no train.en or train.en.gz."

case "${DEVICE:-cuda}" in cpu) trainer=cpu ;; *) trainer=gpu ;; esac
small=""
if [ -n "${QUICK:-}" ]; then
    small="model.d_k=4,8 seed=1 model.num_layers=1 model.d_model=16 model.d_ff=16 training.max_steps=2 training.validate_every=2"
fi
start_parts "${2:-gpu_ablation}" 600

# sweep EXPERIMENT LIMIT RUNS OVERRIDES...: the runs, then their report.
sweep() {
    local experiment="$1" limit="$2" runs="$3"
    shift 3
    # shellcheck disable=SC2086
    part "$experiment" "$limit" train -m "experiment=$experiment" trainer=$trainer "run_directory=$out/$runs" \
        hydra/launcher=joblib "hydra.launcher.n_jobs=${JOBS:-8}" "$@" $small
    part "${experiment}_report" 60 report "$out/$runs" --out "$out/${runs}_report"
}

if [ -n "$corpus" ]; then
    sweep ablation 270 runs
    sweep ablation_multi30k 210 multi30k_runs "data.path=$corpus" "data.cache_directory=$out/cache"
    rm -rf "$out/cache"
else
    sweep ablation 540 runs
fi
end_parts

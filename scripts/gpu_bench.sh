#!/usr/bin/env bash
# What minitx does on one GPU, in ten minutes at most: every compatibility function, the training step in each
# precision, Multi30k to a test score, and decoding with the weights of that run.
#
#   bash scripts/gpu_bench.sh MULTI30K [OUT]
#
# MULTI30K is a directory of train.en[.gz], train.de, val.en, …; OUT (gpu_bench) must not exist yet. For each part OUT gets
# its table (.txt), its messages (.log) and JSON lines; and runs/ with the Multi30k run. A part that fails or runs over
# its time is named at the end and stops no other.
#
#   DEVICE=cpu        on the processor instead
#   QUICK=1           tiny cases: does everything run?
#   MINITX=COMMAND    as in timed_parts.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
source "$(dirname "${BASH_SOURCE[0]}")/timed_parts.sh"

[ $# -eq 1 ] || [ $# -eq 2 ] || refuse "Usage: bash scripts/gpu_bench.sh MULTI30K [OUT]"
corpus="$1"
[ -f "$corpus/train.en" ] || [ -f "$corpus/train.en.gz" ] || refuse "$corpus holds no train.en or train.en.gz."

device="${DEVICE:-cuda}"
case "$device" in cpu) trainer=cpu ;; *) trainer=gpu ;; esac
lengths=64,256,1024
widths=64,256
repeats=10
steps=30
training_seconds=180
decode="--repeats 3"
models="tiny base"
dtypes="float32 bfloat16"
precisions="32-true tf32 bf16-products bf16-mixed"
small=""
if [ -n "${QUICK:-}" ]; then
    lengths=8
    widths=4
    repeats=2
    steps=2
    training_seconds=2
    decode="--repeats 1 --limit 8 --max-length 8"
    models="tiny"
    dtypes="float32"
    precisions="32-true tf32"
    small="model.num_layers=1 model.d_model=16 model.num_heads=2 model.d_ff=16 training.max_steps=4 training.validate_every=2"
fi

start_parts "${2:-gpu_bench}" 600

for dtype in $dtypes; do
    part "attention_$dtype" 90 bench attention --device "$device" --lengths $lengths --d-k $widths --dtype $dtype \
        --repeats $repeats --out "$out/attention_$dtype" --json "$out/attention_$dtype.jsonl"
done

for model in $models; do
    case "$model" in base) batch=25000 ;; *) batch=4096 ;; esac
    for precision in $precisions; do
        # shellcheck disable=SC2086
        part "train_${model}_$precision" 40 bench train --steps $steps --json "$out/train.jsonl" trainer=$trainer \
            data=multi30k "data.path=$corpus" data.vocab_size=10000 "data.cache_directory=$out/cache" model=$model \
            data.batch_tokens=$batch trainer.precision=$precision $small
    done
done

# shellcheck disable=SC2086
part multi30k 270 train experiment=multi30k_tiny trainer=$trainer "data.path=$corpus" "data.cache_directory=$out/cache" \
    "run_directory=$out/runs" training.max_seconds=$training_seconds training.validate_every=1000 logger=none $small
for run in "$out"/runs/*/; do
    # shellcheck disable=SC2086
    part decode 60 bench decode "$run" --device "$device" --json "$out/decode.jsonl" $decode
done

rm -rf "$out/cache"
end_parts

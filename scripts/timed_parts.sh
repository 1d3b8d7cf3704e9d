# Sourced by gpu_bench.sh and gpu_ablation.sh, after setup.sh: parts of one measurement that share a time limit. Each
# leaves its output in files; one that fails or runs over its time is named at the end and stops no other.
#
#   MINITX=COMMAND    another minitx than that of .venv, which is set up where it is missing (not in the limit)

# start_parts OUT SECONDS: makes the directory OUT and starts the clock.
start_parts() {
    out="$1"
    all_parts="$2"
    [ ! -e "$out" ] || refuse "$out exists already: name another directory, nothing is overwritten."
    if [ -z "${MINITX:-}" ]; then
        set_up
        MINITX="$venv_bin/minitx"
    fi
    mkdir -p "$out"
    missed=""
    SECONDS=0
}

# part NAME LIMIT ARGUMENTS...: minitx's output in OUT/NAME.txt and .log, within LIMIT seconds and what is left of all.
# SIGINT first: what has been measured by then is kept.
part() {
    local name="$1" limit="$2" status=0
    shift 2
    [ "$limit" -le $((all_parts - SECONDS)) ] || limit=$((all_parts - SECONDS))
    say "$name: minitx $*"
    if [ "$limit" -le 0 ]; then
        status=124
    else
        # MINITX may be a command of several words.
        # shellcheck disable=SC2086
        timeout --signal=INT --kill-after=20 "$limit" $MINITX "$@" >"$out/$name.txt" 2>"$out/$name.log" || status=$?
    fi
    case "$status" in
        0) ;;
        124 | 137) missed="$missed $name(time)" ;;
        *)
            missed="$missed $name(status $status)"
            tail -n 3 "$out/$name.log" >&2
            ;;
    esac
}

# end_parts: shows what the parts printed; status 1 if one of them is missing.
end_parts() {
    cat "$out"/*.txt
    say "$SECONDS s; everything is in $out"
    [ -z "$missed" ] || refuse "not whole:$missed"
}

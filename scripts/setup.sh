# Sourced by train.sh and test.sh, under `set -euo pipefail`. Defines `root`, `venv_bin` and `set_up`, which makes
# $root/.venv from requirements.lock unless that has been done already. For bash 3.2 and newer, macOS's own included.
#
#   PYTHON=/path/to/python    the Python to use (3.11 to 3.13); without it the first such python on the PATH
#   TORCH_INDEX_URL=ADDRESS   a further package index to take torch from: the address that PyTorch's install page gives
#                             for "CPU" spares a Linux machine without an NVIDIA GPU about 2.5 GB of downloads
#
# Every failure is one sentence; what pip and venv printed is in .venv/setup.log.

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
venv="$root/.venv"
setup_log="$venv/setup.log"
case "$(uname -s)" in
    MINGW* | MSYS* | CYGWIN*) venv_bin="$venv/Scripts" ;;
    *) venv_bin="$venv/bin" ;;
esac
venv_python="$venv_bin/python"

say() { printf '%s\n' "$*" >&2; }

refuse() {
    say "$*"
    exit 1
}

# python_version PYTHON: its version as 3.12, nothing where it does not run.
python_version() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true; }

# find_python: sets `python` to a Python 3.11 to 3.13. A plain python3 that fits comes before versioned names: it is the
# one that the machine's owner meant to be used.
find_python() {
    local candidate version seen=""
    if [ -n "${PYTHON:-}" ]; then
        set -- "$PYTHON"
    else
        set -- python3 python3.13 python3.12 python3.11 python
    fi
    for candidate; do
        version="$(python_version "$candidate")"
        case "$version" in
            3.11 | 3.12 | 3.13)
                python="$candidate"
                return
                ;;
            ?*) [ -n "$seen" ] || seen=" ($candidate is Python $version)" ;;
        esac
    done
    if [ -n "${PYTHON:-}" ]; then
        refuse "minitx needs Python 3.11, 3.12 or 3.13, which PYTHON=$PYTHON is not${seen:- (it does not run)}."
    fi
    refuse "minitx needs Python 3.11, 3.12 or 3.13, and none is on the PATH$seen:" \
        "install one, or name it with PYTHON=/path/to/python."
}

# What .venv was made from; .venv/setup-done holds a copy. The root is its first line since a moved venv does not work.
setup_inputs() {
    printf '%s\n' "$root"
    cat "$root/requirements.lock" "$root/constraints-cuda.txt" "$root/pyproject.toml"
}

# venv_fits: .venv runs, lies where it was made, was not left half done, and has the Python asked for, if one was.
venv_fits() {
    [ -x "$venv_python" ] && [ ! -f "$venv/setup-unfinished" ] || return 1
    [ ! -f "$venv/setup-done" ] || [ "$(head -n 1 "$venv/setup-done")" = "$root" ] || return 1
    [ -z "${PYTHON:-}" ] || [ "$(python_version "$PYTHON")" = "$(python_version "$venv_python")" ]
}

is_set_up() {
    [ -f "$venv/setup-done" ] && [ "$(setup_inputs)" = "$(cat "$venv/setup-done")" ] && venv_fits
}

# One set-up at a time: making a directory either succeeds or finds it there. A holder that was killed is passed over.
take_setup_lock() {
    local holder waited=0
    mkdir -p "$venv" 2>/dev/null || refuse "Cannot write to $root, where the set-up makes .venv."
    until mkdir "$venv/setup-lock" 2>/dev/null; do
        [ -w "$venv" ] || refuse "Cannot write to $venv."
        holder="$(cat "$venv/setup-lock/process" 2>/dev/null || true)"
        [ "$waited" -ne 0 ] || [ -z "$holder" ] || say "Waiting for the set-up that process $holder is doing ..."
        if { [ -n "$holder" ] && ! kill -0 "$holder" 2>/dev/null; } || { [ -z "$holder" ] && [ "$waited" -ge 5 ]; }; then
            rm -rf "$venv/setup-lock"
            continue
        fi
        sleep 1
        waited=$((waited + 1))
    done
    echo $$ >"$venv/setup-lock/process"
}

# explain_pip_failure: one sentence for what the log holds.
explain_pip_failure() {
    local missing
    if grep -qE 'Max retries exceeded|NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError' \
        "$setup_log"; then
        refuse "Set-up failed: the package index cannot be reached, so check the network or proxy and call this" \
            "again (details: $setup_log)."
    elif grep -q 'No space left on device' "$setup_log"; then
        refuse "Set-up failed: the disk is full (details: $setup_log)."
    fi
    missing="$(sed -n 's/.*No matching distribution found for \([^ ;]*\).*/\1/p' "$setup_log" | head -n 1)"
    if [ -n "$missing" ]; then
        refuse "Set-up failed: the package index has no $missing for Python $(python_version "$venv_python") on" \
            "$(uname -s) $(uname -m), or cannot be reached (details: $setup_log)."
    fi
    refuse "Set-up failed: pip could not install the packages, for the reason at the end of $setup_log."
}

# pip_install ARGUMENTS: shows the large downloads; everything that pip prints goes to the log.
pip_install() {
    # PIP_USER=0: a personal `user = true` would keep pip out of the venv. No build isolation: the one package that
    # comes as source is built with the locked setuptools.
    PIP_USER=0 "$venv_python" -m pip install --disable-pip-version-check --no-input --no-build-isolation "$@" 2>&1 |
        tee -a "$setup_log" |
        awk '/Downloading .*\(([0-9.]+ GB|[0-9][0-9]+\.[0-9]+ MB)\)/ {
                 sub(/^ *Downloading +/, ""); sub(/.*\//, ""); sub(/-(cp|py)[^ ]*\.whl/, "")
                 print "  downloading " $0; fflush() }
             /^Installing collected packages/ && NF > 4 { print "  installing " NF - 3 " packages"; fflush() }' >&2 ||
        explain_pip_failure
}

make_venv() {
    local version="$(python_version "$python")"
    if [ -f "$venv/pyvenv.cfg" ] && [ ! -f "$venv/setup-done" ] && [ ! -f "$venv/setup-unfinished" ]; then
        refuse "$venv is an environment that this script did not make, of another Python or broken: remove it first."
    fi
    : >"$venv/setup-unfinished"
    find "$venv" -mindepth 1 -maxdepth 1 ! -name setup-lock ! -name setup-unfinished -exec rm -rf {} +
    if ! "$python" -c 'import venv, ensurepip' 2>/dev/null || ! "$python" -m venv "$venv" >>"$setup_log" 2>&1; then
        refuse "$python (Python $version) cannot make a virtual environment, since its venv or ensurepip module is" \
            "missing or broken: on Debian and Ubuntu, \`apt install python$version-venv\` brings them."
    fi
}

install_packages() {
    pip_install "$(grep '^setuptools==' "$root/requirements.lock")"
    pip_install --requirement "$root/requirements.lock" --constraint "$root/constraints-cuda.txt" \
        ${TORCH_INDEX_URL:+--extra-index-url "$TORCH_INDEX_URL"}
    pip_install --no-deps --editable "$root"
}

download_size() {
    case "$(uname -s)" in
        Linux) echo "about 3 GB, or 0.5 GB with the CPU build of torch (see TORCH_INDEX_URL in the README)" ;;
        *) echo "about 0.4 GB" ;;
    esac
}

set_up() {
    is_set_up && return
    take_setup_lock
    trap 'rm -rf "$venv/setup-lock"' EXIT
    if is_set_up; then
        : # by the process that held the lock
    elif venv_fits; then
        say "Bringing $venv up to date with requirements.lock ..."
        [ ! -f "$venv/setup-done" ] || mv "$venv/setup-done" "$venv/setup-unfinished"
        install_packages
    else
        find_python
        say "Setting up $venv with Python $(python_version "$python"); the first time downloads $(download_size) ..."
        make_venv
        install_packages
    fi
    setup_inputs >"$venv/setup-done.new"
    mv "$venv/setup-done.new" "$venv/setup-done"
    rm -rf "$venv/setup-unfinished" "$venv/setup-lock"
    trap - EXIT
}

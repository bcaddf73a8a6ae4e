#!/bin/sh
# Makes .venv and installs Sottovoce into it, editable:  make_venv.sh run|dev|package|bench
# .venv/.ready-run, .ready-dev and so on keep what was installed and where, so that a changed pyproject.toml or a moved
# checkout is seen; .venv/.unfinished stands while pip works, so that an interrupted set-up is made anew.
set -eu

cd "$(dirname "$0")/.."
case $1 in run) extras=starter ;; dev) extras=starter,dev ;; package) extras=starter,dev,package ;; bench) extras=starter,dev,bench ;; esac
state="$(pwd) $(cksum <pyproject.toml)"
suits='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))'

say() {
    echo "$*" >&2
}

find_python() {
    for python in "${PYTHON:-python3}" python3.13 python3.12 python3.11; do
        "$python" -c "$suits" 2>/dev/null && return
    done
    say "Sottovoce needs Python 3.11, 3.12 or 3.13, and found none of them (make PYTHON=/path/to/python3.12 names one)."
    exit 1
}

# Debian's Python comes without ensurepip; its pip, where installed, fills the environment as well.
make_venv() {
    "$python" -m venv .venv >/dev/null 2>&1 && return
    "$python" -m venv --without-pip --clear .venv &&
        "$python" -m pip --python .venv/bin/python install -qq --disable-pip-version-check pip && return
    rm -rf .venv
    say "Python cannot make a virtual environment here. On Debian type: sudo apt-get install python3-venv"
    exit 1
}

works() {
    [ ! -e .venv/.unfinished ] && .venv/bin/python -c "$suits; import pip" 2>/dev/null
}

if [ -f ".venv/.ready-$1" ] && [ "$(cat ".venv/.ready-$1")" = "$state" ] && works; then
    exit 0
fi
case $(pwd) in
    *[\$\"\;:\\]*)
        say "venv, pip or Qt fails in a folder with one of \$ \" ; : \\ in its path: please move the checkout."
        exit 1
        ;;
esac
if [ -e .venv ] && ! works; then
    say "Making .venv anew: it is unfinished, or its Python is gone."
    rm -rf .venv
fi
if [ ! -e .venv ]; then
    find_python
    make_venv
fi

say "Installing Python packages into .venv (once; some minutes with a slow network) …"
[ -t 2 ] && quiet= || quiet=-qq
: >.venv/.unfinished
if ! PYTHONWARNINGS=ignore .venv/bin/python -m pip install $quiet --disable-pip-version-check --no-input --editable ".[$extras]"; then
    say "The Python packages could not be installed; the lines above say why."
    exit 1
fi
for level in run dev "$1"; do
    printf '%s' "$state" >".venv/.ready-$level"
    [ "$1" != "$level" ] || break
done
rm .venv/.unfinished

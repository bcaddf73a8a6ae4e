#!/bin/sh
# Sees to it that what Sottovoce needs from the system is there:  system_libraries.sh run|test
# Looks for the libraries, commands and files themselves, so it asks for nothing that is already there, on any distribution.
# On Debian and its kin installs what is missing, as root or by `sudo -n`; else prints the line to type.
set -eu

[ "$(uname -s)" = Linux ] || exit 0
here=$(dirname "$0")
lists="packages-run.txt"
[ "$1" = run ] || lists="$lists packages-test.txt"
PATH=$PATH:/usr/sbin:/sbin
loadable=$(ldconfig -p 2>/dev/null || true)

is_there() {
    case $1 in
        /*) [ -e "$1" ] ;;
        *.so.*) case $loadable in *"$1 "*) true ;; *) false ;; esac ;;
        *) command -v "$1" >/dev/null ;;
    esac
}

things=
packages=
while read -r thing package; do
    case $thing in '' | '#'*) continue ;; esac
    is_there "$thing" || { things="$things $thing" packages="$packages $package"; }
done <<LISTS
$(cd "$here" && cat $lists)
LISTS
[ -n "$packages" ] || exit 0

# Transcribing in the terminal needs none of the window's libraries, so without a display they are no reason to stop.
give_up() {
    [ "$1" = run ] && [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ] || exit 1
    echo "(They are for the window only; going on without, as there is no display.)" >&2
    exit 0
}

if ! command -v apt-get >/dev/null; then
    echo "Not found on this system, and perhaps needed:$things" >&2
    libraries= # an RPM system finds a package by the library in it
    for thing in $things; do
        case $thing in *.so.*) libraries="$libraries '$thing()(64bit)'" ;; esac
    done
    . /etc/os-release
    case " ${ID-} ${ID_LIKE-} " in
        *" fedora "* | *" rhel "*) echo "For the libraries, type: sudo dnf install$libraries" ;;
        *suse*) echo "For the libraries, type: sudo zypper install --capability$libraries" ;;
        *" arch "*) echo "pacman -F NAME tells which package has it." ;;
    esac >&2
    exit 0
fi

if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "System packages are missing, and installing them needs an administrator. Type this, then try again:" >&2
    if command -v sudo >/dev/null; then
        echo "  sudo apt-get update && sudo apt-get install --no-install-recommends$packages" >&2
    else
        echo "  su -c 'apt-get update && apt-get install --no-install-recommends$packages'" >&2
    fi
    give_up "$1"
fi

apt() {
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@"
}
install() {
    apt install -y --no-install-recommends $packages
}

echo "Installing system packages (once):$packages"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# A new or stale machine does not know the packages yet: then their lists are fetched first.
if ! install >"$log" 2>&1 && ! { apt update && install; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "The system packages could not be installed; the lines above say why." >&2
    give_up "$1"
fi

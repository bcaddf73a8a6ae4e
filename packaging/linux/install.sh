#!/bin/sh
# Installs this folder for the user who runs it, without an administrator; `install.sh --remove` takes it away again.
# Models and transcripts are kept elsewhere (~/.local/share/Sottovoce) and stay.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
data=${XDG_DATA_HOME:-$HOME/.local/share}
program=$data/sottovoce-program
commands=$HOME/.local/bin
id=io.sottovoce.Sottovoce

remove() {
    rm -rf "$program"
    rm -f "$commands/sottovoce" "$commands/sottovoce-app" "$data/applications/$id.desktop" \
        "$data/metainfo/$id.metainfo.xml" "$data/icons/hicolor/scalable/apps/$id.svg"
}

# The desktop learns of new file types and icons by itself, but sooner when it is told.
tell_desktop() {
    if command -v update-desktop-database >/dev/null; then update-desktop-database -q "$data/applications"; fi
}

if [ "${1-}" = --remove ]; then
    remove
    tell_desktop
    echo "Sottovoce is removed. Your models and transcripts are still in $data/Sottovoce."
    exit 0
fi
case $here in
    "$program"*)
        echo "This is the installed program already. To remove it: $here/install.sh --remove" >&2
        exit 1
        ;;
esac

new=$program.new
rm -rf "$new"
mkdir -p "$data" "$commands" "$data/applications" "$data/metainfo" "$data/icons/hicolor/scalable/apps"
cp -R "$here" "$new"
remove
mv "$new" "$program"
ln -s "$program/sottovoce" "$commands/sottovoce"
ln -s "$program/sottovoce-app" "$commands/sottovoce-app"
cp "$program/$id.metainfo.xml" "$data/metainfo/"
cp "$program/$id.svg" "$data/icons/hicolor/scalable/apps/"
# The desktop may not look in ~/.local/bin. In a desktop file " $ and ` want two backslashes, \ is four, % is doubled.
quoted=$(printf '%s' "$program/sottovoce-app" | sed 's/\\/\\\\\\\\/g; s/["$`]/\\\\&/g; s/%/%%/g; s/[&|\\]/\\&/g')
sed "s|^Exec=sottovoce-app|Exec=\"$quoted\"|" "$program/$id.desktop" >"$data/applications/$id.desktop"
tell_desktop
echo "Sottovoce is installed: look for it among your programs, or type $commands/sottovoce-app."

"""What PyInstaller found and the program does without: Qt's unused plugins and translations, and the libraries that
come from the user's own system; and then whatever only these needed, so that no list of libraries has to be kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path, PurePath
from typing import TypeAlias

Entry: TypeAlias = tuple[str, str, str]  # as in PyInstaller's lists: the name in the program, the file, its kind

# Of Qt's plugins, by folder, those that a program of plain widgets loads. Of the rest the file dialog's GTK theme
# would bring a GTK of the build's age into the user's, and TLS is Python's, in the downloads.
_PLUGINS: dict[str, frozenset[str]] = {
    "iconengines": frozenset({"qsvgicon"}),
    "imageformats": frozenset({"qsvg"}),
    "multimedia": frozenset({"ffmpegmediaplugin", "windowsmediaplugin", "darwinmediaplugin"}),
    "permissions": frozenset({"qdarwinmicrophonepermission"}),
    "platforminputcontexts": frozenset({"composeplatforminputcontextplugin", "ibusplatforminputcontextplugin"}),
    "platforms": frozenset({"qcocoa", "qoffscreen", "qwayland", "qwindows", "qxcb"}),
    "platformthemes": frozenset({"qxdgdesktopportal"}),
    "styles": frozenset({"qmacstyle", "qmodernwindowsstyle", "qwindowsvistastyle"}),
    "wayland-decoration-client": frozenset({"adwaita", "bradient"}),
    "wayland-shell-integration": frozenset({"qt-shell", "xdg-shell"}),
}

# These must be the user's own: they read his system's configuration, find his sound plugins, or meet his graphics
# drivers, which want them at least as new as themselves. Every Linux desktop has them (packages-run.txt).
_FROM_THE_SYSTEM = re.compile(
    r"(libasound|libdbus-1|libexpat|libfontconfig|libfreetype|libgcc_s|libstdc\+\+|libX11(-xcb)?)\.so\b"
)


def plugin_of_qt(name: str) -> tuple[str, str] | None:
    """The folder and the bare name of one of Qt's plugins: ("platforms", "qxcb")."""
    parts = PurePath(name).parts
    if "plugins" not in parts[:-2] or "PySide6" not in parts:
        return None
    return parts[-2], re.sub(r"^lib|\.(so|dylib|dll)$", "", parts[-1])


def is_used(entry: Entry) -> bool:
    """Whether the program may load this file, and is to bring it along."""
    name = PurePath(entry[0])
    if plugin := plugin_of_qt(entry[0]):
        return plugin[1] in _PLUGINS.get(plugin[0], frozenset())
    if "translations" in name.parts and "PySide6" in name.parts:
        return False
    return len(name.parts) > 1 or not _FROM_THE_SYSTEM.match(name.name)


def without_unused(entries: Iterable[Entry], imports: Callable[[str], set[str]]) -> list[Entry]:
    """`entries` that are used, less the libraries that only the others needed.

    `imports` gives the files that a library file names.
    """
    listed = list(entries)
    kept = [entry for entry in listed if is_used(entry)]
    by_file = {Path(file).name: entry for entry in listed for _, file, kind in [entry] if kind == "BINARY"}

    def needed_by(files: Iterable[str]) -> set[str]:
        found: set[str] = set()
        waiting = list(files)
        while waiting:
            names = {Path(path).name for path in imports(waiting.pop())} & by_file.keys() - found
            found |= names
            waiting += [by_file[name][1] for name in names if is_used(by_file[name])]
        return found

    by_others = needed_by(file for _, file, kind in set(listed) - set(kept) if kind in ("BINARY", "EXTENSION"))
    only_libraries = {by_file[name] for name in by_others}
    roots = [entry for entry in kept if entry not in only_libraries and entry[2] in ("BINARY", "EXTENSION")]
    by_kept = needed_by(file for _, file, _ in roots)
    used = [entry for entry in kept if entry not in only_libraries or Path(entry[1]).name in by_kept]
    targets = {name for name, _, kind in used if kind != "SYMLINK"}
    return [entry for entry in used if entry[2] != "SYMLINK" or str(PurePath(entry[0]).parent / entry[1]) in targets]

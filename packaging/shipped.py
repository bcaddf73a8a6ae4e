"""Which distributions the packaged program carries: sottovoce with its extra `tract`, and what these require here.

Read from the metadata of the environment, so that nobody has to list them: packaging/app.spec leaves out whatever
else is installed, packaging/notices.py writes the licences of what is left.
"""

from __future__ import annotations

from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OPTIONAL = "tract"  # there is no wheel of it for every machine


def shipped() -> dict[str, Distribution]:
    """The distributions by their canonical names, in order."""
    found: dict[str, Distribution] = {}
    seen: set[str] = set()
    waiting = [Requirement(f"sottovoce[{OPTIONAL}]")]
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        asked = f"{name} {sorted(requirement.extras)}"
        if asked in seen:
            continue
        seen.add(asked)
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            if name != OPTIONAL:
                raise
            continue
        needed = map(Requirement, found[name].requires or ())
        waiting += [one for one in needed if _applies(one, requirement.extras)]
    return dict(sorted(found.items()))


def left_out() -> list[str]:
    """The top-level modules of everything installed that the program does without."""
    kept = shipped().keys()
    return sorted(
        module
        for module, owners in packages_distributions().items()
        if module.isidentifier() and not any(canonicalize_name(owner) in kept for owner in owners)
    )


def _applies(needed: Requirement, extras: set[str]) -> bool:
    marker = needed.marker
    return marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras))

"""Write a bill of materials of the installed package as CycloneDX JSON.

`python tools/sbom.py sbom.json` lists steinmetz and everything that it needs to run, with version,
licence and what depends on what, from the metadata of the packages that are installed.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

NAME = "steinmetz"


def plain(name: str) -> str:
    """A name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def needed(package: metadata.Distribution) -> Iterator[str]:
    """Names of what a package needs here, without its extras."""
    for requirement in package.requires or ():
        head, _, marker = requirement.partition(";")
        if "extra" in marker:
            continue
        name = plain(re.split(r"[^A-Za-z0-9._-]", head.strip(), maxsplit=1)[0])
        if installed(name) is not None:  # else its marker is of another platform
            yield name


def installed(name: str) -> metadata.Distribution | None:
    """A package that is there."""
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def core(name: str = NAME) -> dict[str, metadata.Distribution]:
    """A package and everything it needs, however far."""
    found: dict[str, metadata.Distribution] = {}
    waiting = [name]
    while waiting:
        each = waiting.pop()
        package = installed(each)
        if each not in found and package is not None:
            found[each] = package
            waiting += needed(package)
    return dict(sorted(found.items()))


def licence(package: metadata.Distribution) -> str:
    """What the metadata say of the licence: an expression, classifiers, or its first line."""
    about = package.metadata
    if "License-Expression" in about:
        return str(about["License-Expression"])
    marks = [mark for mark in about.get_all("Classifier") or () if mark.startswith("License ::")]
    if marks:
        return "; ".join(mark.rpartition(" :: ")[2] for mark in marks)
    stated = (about.get_all("License") or ["unknown"])[0]
    return stated.strip().partition("\n")[0] or "unknown"


def bill() -> dict[str, object]:
    """The document."""
    packages = core()
    refs = {name: f"pkg:pypi/{name}@{package.version}" for name, package in packages.items()}

    def component(name: str, kind: str) -> dict[str, object]:
        package = packages[name]
        return {
            "type": kind,
            "bom-ref": refs[name],
            "purl": refs[name],
            "name": name,
            "version": package.version,
            "licenses": [{"license": {"name": licence(package)}}],
        }

    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component(NAME, "application")},
        "components": [component(name, "library") for name in packages if name != NAME],
        "dependencies": [
            {"ref": refs[name], "dependsOn": [refs[other] for other in sorted({*needed(package)})]}
            for name, package in packages.items()
        ],
    }


def main() -> None:
    """Write it to the file that is named, or print it."""
    text = json.dumps(bill(), indent=2)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()

"""Write `requirements.lock`: every package of the development environment with its SHA-256.

`python tools/lock.py` asks pip what it would install under `constraints.txt`, and writes names,
versions and hashes, and where from is not written. `pip install --require-hashes -r
requirements.lock` then takes these files and no others. They are those of one Python and platform,
which the first line names; elsewhere `constraints.txt` holds the versions alone.
"""

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"


def resolved() -> list[tuple[str, str, str]]:
    """Name, version and SHA-256 of all that pip would install beside the package itself."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--report", str(report)]
        command += ["--constraint", str(ROOT / "constraints.txt"), f"{ROOT}[dev,docs]"]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    every = []
    for entry in found:
        about, archive = entry["metadata"], entry["download_info"].get("archive_info")
        if archive is not None:  # the package itself is a folder
            every.append((about["name"], about["version"], archive["hashes"]["sha256"]))
    return sorted(every, key=lambda each: each[0].lower())


def main() -> None:
    """Write the file."""
    python = ".".join(platform.python_version_tuple()[:2])
    where = f"Python {python}, {platform.system()} {platform.machine()}"
    lines = [f"# {where}; made by tools/lock.py from constraints.txt"]
    lines += [f"{name}=={version} --hash=sha256:{digest}" for name, version, digest in resolved()]
    LOCK.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"wrote {LOCK.name}: {len(lines) - 1} packages")


if __name__ == "__main__":
    main()

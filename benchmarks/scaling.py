"""How fast samplers step and how much memory they take, against the size of everything.

`python benchmarks/scaling.py particles` (or `rows`, `parameters`, `devices`, `gathers`) prints a
table in Markdown; every entry is a process of its own (`pace.py`), whose peak memory is known.
Times are processor seconds of all threads, which other work on the machine changes little; where
one waits for others it is the seconds that pass. `--seconds` bounds one entry.
"""

import argparse
import json
import math
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

from pace import APART

METHODS = ("svgd", "psvgd", "ssvgd", "ssvn")
LARGEST_SSVGD = 5000


def entry(asked, **size):
    """What a process of its own measures, or several together, or the words that say why not."""
    given = {"rows": 80, "seconds": asked.seconds, **size}
    words = [str(word) for name, value in given.items() for word in (f"--{name}", value)]
    count = size.get("processes", 1)
    if count > 1:
        with socket.create_server(("127.0.0.1", 0)) as door:
            words += ["--coordinator", f"127.0.0.1:{door.getsockname()[1]}"]
    started = [begun([*words, "--process", str(number)]) for number in range(count)]
    try:
        said = [process.communicate(timeout=asked.seconds) for process in started]
    except subprocess.TimeoutExpired:
        for process in started:
            process.kill()
            process.communicate()
        return f"more than {asked.seconds:.0f} s"
    if any(process.returncode for process in started):
        errors = "".join(error for _, error in said)
        print(errors[-1500:], file=sys.stderr)
        return "not enough memory" if "RESOURCE_EXHAUSTED" in errors else "failed"
    every = [json.loads(output.strip().splitlines()[-1]) for output, _ in said]
    found = every[0] | {
        name: sum(one[name] for one in every) for name in ("processor", "gigabytes")
    }
    print(given, found, file=sys.stderr, flush=True)
    return found


def begun(words):
    """One entry, or a share in one, as a process."""
    call = [sys.executable, str(Path(__file__).with_name("pace.py")), *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(call, text=True, **pipes)


def rate(found):
    """Steps per processor second, and gigabytes."""
    if isinstance(found, str):
        return found
    return f"{number(1 / found['processor'])} /s, {found['gigabytes']:.1f} GB"


def number(value):
    """Two digits."""
    if value >= 100:
        return f"{round(value, 1 - math.floor(math.log10(value))):.0f}"
    return f"{value:.2g}" if value >= 0.01 else f"{value:.4f}".rstrip("0")


def spaced(size):
    """A whole number as people write it."""
    return f"{size:,}".replace(",", " ")


def row(*parts):
    """A line of a table, printed when it is known."""
    print("| " + " | ".join(str(part) for part in parts) + " |", flush=True)


def head(*names):
    """The first two lines."""
    row(*names)
    print("|" + "---|" * len(names), flush=True)


def swept(asked, what, sizes, columns, growth=1):
    """A table: what every column says is to be measured at a size, or the words why it is not.

    From line to line a step may take longer by `growth`; what would take too long is left out.
    """
    head(what, *columns)
    before = dict.fromkeys(columns, 0.0)
    for size in asked.sizes or sizes:
        found = []
        for name, column in columns.items():
            given = column(size)
            if before[name] * growth > asked.seconds:
                given = f"not tried, over {asked.seconds:.0f} s"
            found.append(given if isinstance(given, str) else entry(asked, **given))
            before[name] = math.inf if isinstance(found[-1], str) else found[-1]["processor"]
        row(spaced(size), *map(rate, found))


def particles(asked):
    """Against particles: the law of 8 parameters with 80 tensors."""

    def at(method, size):
        too_many = method == "ssvgd" and size > LARGEST_SSVGD
        return "over its limit" if too_many else {"method": method, "particles": size}

    columns = {method: partial(at, method) for method in asked.methods or (*METHODS, APART)}
    swept(asked, "particles", (100, 1000, 10_000, 100_000), columns, growth=100)


def rows(asked):
    """Against rows of data: 20 particles of the same law."""
    columns = {
        "svgd, all rows": lambda size: {"particles": 20, "rows": size},
        "svgd, batches of 100": lambda size: {"particles": 20, "rows": size, "batch": 100},
        "ssvn, all rows": lambda size: {"particles": 20, "rows": size, "method": "ssvn"},
    }
    swept(asked, "rows", (100, 1000, 10_000, 100_000, 1_000_000), columns)


def parameters(asked):
    """Against parameters: 100 particles of a Gaussian."""

    def at(method, size):
        if method.startswith("ssvn") and size > 1000:
            return f"curvatures alone are {100 * size**2 * 8 / 1e9:.0f} GB"
        return {"method": method, "particles": 100, "parameters": size}

    columns = {method: partial(at, method) for method in asked.methods or (*METHODS, APART)}
    swept(asked, "parameters", (7, 100, 1000, 10_000), columns)


def devices(asked):
    """Weak scaling: pairs of particles per device stay the same; beside it one device with all."""
    head("where", "particles", "passed", "processors", "processors of 1 device", "ratio", "memory")
    for count, where in ((1, "devices"), (2, "devices"), (4, "devices"), (2, "processes")):
        size = 100 * round(40 * count**0.5)
        given = {"particles": size, "parameters": 7}
        both = entry(asked, **{where: count}, **given), entry(asked, devices=1, **given)
        if "failed" in both:
            raise SystemExit(f"{count} {where} failed")
        spent = [found["processor"] for found in both]
        times = (f"{number(seconds)} s" for seconds in (both[0]["wall"], *spent))
        memory = f"{both[0]['gigabytes']:.1f} GB"
        row(
            f"{count} {where}" if count > 1 else "1 device",
            size,
            *times,
            f"{spent[0] / spent[1]:.2f}",
            memory,
        )


def gathers(asked):
    """Seconds that pass until every device has the numbers of all."""
    places = {"2 devices": {"devices": 2}, "2 processes": {"processes": 2}}
    head("numbers", *places)
    for size in asked.sizes or (1000, 100_000, 1_000_000, 10_000_000):
        found = [
            entry(asked, method="gather", particles=size, **place) for place in places.values()
        ]
        times = [
            each if isinstance(each, str) else f"{1e3 * each['wall']:.3g} ms" for each in found
        ]
        row(spaced(size), *times)


TABLES = {table.__name__: table for table in (particles, rows, parameters, devices, gathers)}


def main() -> None:
    """One table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=TABLES)
    parser.add_argument("--seconds", type=float, default=300.0, help="most of one entry")
    parser.add_argument("--sizes", type=int, nargs="*", help="in place of those of the table")
    parser.add_argument("--methods", nargs="*", help="in place of all")
    asked = parser.parse_args()
    TABLES[asked.what](asked)


if __name__ == "__main__":
    main()

"""One Stein step against blackjax and numpyro, and against what the machine can do at all.

Run by `make bench`. Prints microseconds and ratios, and writes them to a JSON file; on a shared
machine only the ratios mean something. Every cell has Adam, the RBF kernel and the median bandwidth
looked at in every step, in float64.
"""

import argparse
import json
import platform
import resource
import statistics
import time
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import cells  # noqa: E402
import limit  # noqa: E402
import peers  # noqa: E402

GRID = (
    (cells.gaussian, (50, 200, 1000)),
    (cells.sparse_gent, (50,)),
    (cells.whole_icnn, (100, 1000)),
    (cells.whole_mlp, (1000,)),
)
NAMES = ("ours", "blackjax", "numpyro", "blackjax, our density")


def compiled(loop):
    """Seconds to compile, bytes of temporary memory, and steps → the finished state."""
    begin = time.perf_counter()
    program = loop.run.lower(loop.state, 1).compile()
    seconds = time.perf_counter() - begin
    return (
        seconds,
        program.memory_analysis().temp_size_in_bytes,
        lambda steps: program(loop.state, steps),
    )


def timed(function, steps):
    begin = time.perf_counter()
    jax.block_until_ready(function(steps))
    return (time.perf_counter() - begin) / steps * 1e6


def race(functions, rounds, seconds):
    """Microseconds per step of every function, in turn in every round, each for some seconds."""
    lengths = {
        name: max(1, int(seconds * 1e6 / timed(function, 1)))
        for name, function in functions.items()
    }
    lengths = {
        name: max(1, int(seconds * 1e6 / timed(functions[name], steps)))
        for name, steps in lengths.items()
    }
    found = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            found[name].append(timed(function, lengths[name]))
    return found


def contest(cell, particles, rounds, seconds):
    """One row of the table."""
    position = cell.start(jax.random.key(1), particles)
    loops = {
        "ours": peers.ours(cell.target, position),
        "blackjax": peers.of_blackjax(cell.natural, position),
        "numpyro": peers.of_numpyro(cell.natural, position),
        "blackjax, our density": peers.of_blackjax(cell.target.log_density, position),
    }
    programs = {name: compiled(loop) for name, loop in loops.items()}
    bare = limit.parts(cell, particles)
    functions = {name: program[2] for name, program in programs.items()}
    times = race(
        functions | {f"bare {name}": function for name, function in bare.items()}, rounds, seconds
    )
    median = {name: statistics.median(values) for name, values in times.items()}
    bare_total = sum(median[f"bare {name}"] * limit.share(cell, particles, name) for name in bare)
    return {
        "cell": cell.name,
        "particles": particles,
        "dimension": cell.dimension,
        "data": cell.data,
        "microseconds": {name: median[name] for name in NAMES},
        "fastest": {name: min(times[name]) for name in NAMES},
        "ratio": {name: median[name] / median["ours"] for name in NAMES[1:]},
        "limit": bare_total,
        "times the limit": median["ours"] / bare_total,
        "compile seconds": {name: programs[name][0] for name in NAMES},
        "temporary megabytes": {name: programs[name][1] / 1e6 for name in NAMES},
        "peak resident megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
        "difference of directions": peers.difference_of_directions(cell, min(particles, 100)),
    }


def shown(row):
    data = f"{row['data']} data, {row['particles']} particles"
    print(f"\n{row['cell']}, {row['dimension']} parameters, {data}")
    for name in NAMES:
        ratio = f"{row['ratio'][name]:6.1f} ×" if name in row["ratio"] else " " * 8
        print(
            f"  {name:<22} {row['microseconds'][name]:12,.1f} µs {ratio}   compile "
            f"{row['compile seconds'][name]:5.1f} s   temporary "
            f"{row['temporary megabytes'][name]:8.1f} MB"
        )
    print(
        f"  bare products and exponentials {row['limit']:,.1f} µs: ours takes "
        f"{row['times the limit']:.1f} times that\n"
        f"  directions agree to {row['difference of directions']:.0e}; process so far at most "
        f"{row['peak resident megabytes']:.0f} MB"
    )


def scaling(rounds, seconds):
    """Our cost against particles and against data."""
    rows = []
    for make, counts, data in (
        (cells.gaussian, (125, 250, 500, 1000, 2000), (0,)),
        (cells.whole_icnn, (50, 100, 200, 400, 800), (80,)),
        (cells.whole_icnn, (100,), (20, 80, 320, 1280)),
    ):
        for size in data:
            cell = make(size) if size else make()
            for particles in counts:
                loop = peers.ours(cell.target, cell.start(jax.random.key(1), particles))
                times = race({"ours": compiled(loop)[2]}, rounds, seconds)["ours"]
                rows.append((cell.name, particles, size, statistics.median(times)))
    print(
        "\ncost of a step with S particles and N data: linear in S·N, quadratic in S by Gram alone"
    )
    for name, particles, size, microseconds in rows:
        each = f"{microseconds / (particles * size):8.3f} µs per S·N" if size else " " * 20
        pair = f"{microseconds / particles**2 * 1e3:8.2f} ns per S²"
        print(
            f"  {name:<12} S {particles:>5}  N {size:>5}  {microseconds:12,.1f} µs  {each}  {pair}"
        )
    return [
        dict(zip(("cell", "particles", "data", "microseconds"), row, strict=True)) for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few repetitions")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "stein.json"
    )
    asked = parser.parse_args()
    rounds, seconds = (3, 0.1) if asked.quick else (9, 0.4)
    table = []
    for make, counts in GRID:
        cell = make()
        for particles in counts:
            table.append(contest(cell, particles, rounds, seconds))
            shown(table[-1])
    worst = min(min(row["ratio"][name] for name in ("blackjax", "numpyro")) for row in table)
    print(f"\nsmallest ratio of a peer to ours: {worst:.1f}")
    found = {"machine": platform.platform(), "table": table, "scaling": scaling(rounds, seconds)}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(found, indent=1))
    print(f"written to {asked.out}")


if __name__ == "__main__":
    main()

"""Laws that the package does not know, run with default settings: what comes out of each.

Data are 80 noisy states within ±20 %; the table has the number of parameters, R² and coverage of
the clean truth by the 95 % band of the push-forward, along the validation path in the range of the
data and beyond it up to ±30 %, and the checks that fail. The laws are in `tests/unseen`. About a
minute per law; names as arguments choose some.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import steinmetz
from steinmetz import registry
from steinmetz.assess import measures, scores
from steinmetz.report import checks, summary
from steinmetz.studies.study import Study

FOLDER = Path(__file__).parent.parent / "tests" / "unseen"
NAMES = sorted(path.stem for path in (FOLDER / "laws").glob("*.py"))
# How far beyond the data a law is judged, as a share of the reference length.
REACH = 0.3
COLUMNS = ("parameters", "χ²/n", "R² in range", "R² to ±30 %", "covered in range", "to ±30 %")


def study_of(name: str, changes: dict[str, object] | None = None) -> Study:
    """The built-in study of the law's material with this law."""
    base = "mechanochemistry" if name == "flory_huggins" else "hyperelasticity"
    return steinmetz.study(base, {"data.law": name, **(changes or {})})


def judged(result: steinmetz.Result) -> dict[str, float]:
    """Numbers of one run, by column."""
    path, along = result.problem.path, result.along
    cells = scores.varying(along.truth, path.observed)
    near = np.abs(path.coordinate - 1) <= REACH + 1e-12
    inside = cells & path.sampled[:, None]
    beyond = cells & (near & ~path.sampled)[:, None]
    row = next(row for row in result.table if row.picked)
    found = {"parameters": result.law.graph.size, "χ²/n": row.loss}
    for part, cell in (("in range", inside), ("to ±30 %", beyond)):
        found[f"R² {part}"] = measures.r2(along.law, along.truth, cell)
        covered = measures.coverage(along.pushed, along.truth, cell)["95"]
        found["covered in range" if part == "in range" else part] = covered
    return {name: found[name] for name in COLUMNS}


def main() -> None:
    """Print the table, a row per law as soon as it is known."""
    os.environ[registry.VARIABLE] = str(FOLDER)
    print(f"| law | {' | '.join(COLUMNS)} | seconds | checks that fail |")
    print("|" + "---|" * (len(COLUMNS) + 3))
    for name in sys.argv[1:] or NAMES:
        begin = time.perf_counter()
        result = steinmetz.run(study_of(name))
        numbers = judged(result)
        failed = [c.name for c in checks.examine(summary.summarise(result)) if not c.passed]
        cells = [f"{numbers['parameters']}", f"{numbers['χ²/n']:.2f}"]
        cells += [f"{numbers[c]:.4f}" for c in COLUMNS[2:4]]
        cells += [f"{100 * numbers[c]:.0f} %" for c in COLUMNS[4:]]
        cells += [f"{time.perf_counter() - begin:.0f}", ", ".join(failed) or "none"]
        print(f"| `{name}` | {' | '.join(cells)} |", flush=True)
        print(f"  {name}: {summary.summarise(result).law}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

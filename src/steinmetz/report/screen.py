"""The final screen of a run: the table, the law, scores, certificate, seconds and paths."""

from pathlib import Path
from typing import Any

from steinmetz.report.checks import examine
from steinmetz.report.page import number


def final(summary: dict[str, Any], folder: Path) -> str:
    """Plain text; only the table is wider than a small terminal."""
    counts, proof, seconds = summary["parameters"], summary["admissible"], summary["seconds"]
    lines = [
        "",
        *table(summary["pareto"]),
        "",
        f"  {_cut(summary['law'], 400)}",
        "",
        f"  parameters  {counts['active']} of {counts['full']} ({counts['reason']})",
        f"  penalty     λ = {counts['penalty']:.3g} log(n)/n left {counts['nonzero']} weights (lowest χ² + k log n of "
        "its path that can be searched), from which the law came",
        f"  R²          {_scores(summary['r2'])}",
        f"  coverage    {_coverage(summary['coverage'])}",
        f"  posterior   {_posterior(summary, folder)}",
        f"  admissible  {proof['checked'] - proof['violated']} of {proof['checked']} laws proven and checked on "
        f"{proof['random_states']} random states",
        f"  seconds     {', '.join(f'{name} {value:.1f}' for name, value in seconds.items())}",
    ]
    if summary["inference"]["frozen"]:
        lines.append(
            f"  frozen      particles {', '.join(map(str, summary['inference']['frozen']))} (not finite)"
        )
    lines += [f"  note        {note}" for note in summary["data"]["notes"]]
    lines += [f"  fault       {fault}" for fault in proof["faults"]]
    figure = folder / "figures" / "path.png"
    lines += [
        "",
        f"  picture     {figure}",
        f"  report      {folder / 'report.html'}",
        f"  law         {folder / 'law.json'}",
    ]
    lines += [f"  numbers     {folder / 'summary.json'}"]
    return "\n".join(lines)


def _posterior(summary: dict[str, Any], folder: Path) -> str:
    found, checks = summary["inference"], examine(summary)
    failed = [check.name for check in checks if not check.passed]
    wrong = f"{', '.join(failed)} failed: see steinmetz diagnose {folder}"
    verdict = wrong if failed else f"all {len(checks)} checks pass"
    return f"{found['draws']} draws by {found['method']}, {verdict}"


def table(rows: list[dict[str, Any]]) -> list[str]:
    """The table a law is chosen from, a line per number of parameters; the chosen one is marked."""
    inside = "path_sampled" if any("path_sampled" in row["r2"] for row in rows) else "train"
    outside = "path_extrapolated" if inside == "path_sampled" else "test"
    heads = ("in range", "extrapol.") if inside == "path_sampled" else ("R² train", "R² test")
    lines = [
        f"  {'row':>5}  {'χ²/n':>9} {'BIC':>9} {'score':>6}  {heads[0]:>9} {heads[1]:>9}  {'restarts':>15}  ok  law"
    ]
    for row in rows:
        mark = "→" if row["picked"] else " "
        spread = row["spread"]
        reached = f"{spread['restarts']}: {spread['best']:.2g}–{spread['worst']:.2g}"
        score = "" if row["score"] is None else f"{row['score']:.2f}"
        lines.append(
            f"  {mark} {row['active']:>3}  {row['loss']:>9.4g} {row['criterion']:>9.1f} {score:>6}  "
            f"{_r2(row['r2'].get(inside)):>9} {_r2(row['r2'].get(outside)):>9}  {reached:>15}  "
            f"{'✓' if row['admissible'] else '✗':>2}  {_cut(row['law'].removeprefix('Ψ = '), 60)}"
        )
    return lines


def _r2(value: float | None) -> str:
    return "–" if value is None else f"{value:.5f}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _scores(r2: dict[str, Any]) -> str:
    names = {
        "path": "path",
        "path_sampled": "in range",
        "path_extrapolated": "extrapolated",
        "test": "test",
        "train": "train",
    }
    return ", ".join(
        f"{label} {number(r2[key])}" for key, label in names.items() if r2[key] is not None
    )


def _coverage(coverage: dict[str, Any]) -> str:
    return ", ".join(f"{level} % band {number(value)}" for level, value in coverage.items())

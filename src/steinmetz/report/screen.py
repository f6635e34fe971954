"""The final screen of a run: law, scores, certificate, seconds and paths."""

from pathlib import Path
from typing import Any

from steinmetz.report.page import number


def final(summary: dict[str, Any], folder: Path) -> str:
    """Plain text that fits a terminal of 100 columns."""
    counts, proof, seconds = summary["parameters"], summary["admissible"], summary["seconds"]
    lines = [
        "",
        f"  {summary['law']}",
        "",
        f"  parameters  {counts['active']} of {counts['full']} ({counts['reason']})",
        f"  R²          {_scores(summary['r2'])}",
        f"  coverage    {_coverage(summary['coverage'])}",
        f"  admissible  {proof['checked'] - proof['violated']} of {proof['checked']} laws proven and checked on "
        f"{proof['random_states']} random states",
        f"  seconds     {', '.join(f'{name} {value:.1f}' for name, value in seconds.items())}",
    ]
    if summary["inference"]["frozen"]:
        lines.append(f"  frozen      particles {', '.join(map(str, summary['inference']['frozen']))} (not finite)")
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


def _scores(r2: dict[str, Any]) -> str:
    names = {
        "path": "path",
        "path_sampled": "in range",
        "path_extrapolated": "extrapolated",
        "test": "test",
        "train": "train",
    }
    return ", ".join(f"{label} {number(r2[key])}" for key, label in names.items() if r2[key] is not None)


def _coverage(coverage: dict[str, Any]) -> str:
    return ", ".join(f"{level} % band {number(value)}" for level, value in coverage.items())

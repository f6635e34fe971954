"""The final screen of a run: the table, the law, scores, certificate, seconds and paths."""

from collections.abc import Sequence
from pathlib import Path

from steinmetz.assess.bands import listed
from steinmetz.assess.loo import Density
from steinmetz.assess.scores import R2
from steinmetz.engine.pareto import Spread
from steinmetz.report.checks import advice, examine
from steinmetz.report.page import number
from steinmetz.report.structures import Structures
from steinmetz.report.summary import Admissible, Parameters, PrintedRow, Summary

# Characters of a law that fit a line of the table, and under it.
_IN_TABLE = 60
_BELOW = 400
# Proven by signs and activations, not proven, not demanded.
_TICKS = {True: "✓", False: "✗", None: "–"}


def final(summary: Summary, folder: Path) -> str:
    """Plain text; only the table is wider than a small terminal."""
    counts, proof, seconds = summary.parameters, summary.admissible, summary.seconds
    lines = [
        "",
        *table(summary.pareto),
        "",
        f"  {_cut(summary.law, _BELOW)}",
        *([f"  {summary.textbook.sentence}"] if summary.textbook else []),
        "",
        *([f"  moduli      {listed(summary.moduli)}"] if summary.moduli else []),
        *([f"  unit        {summary.data.unit} (stress, energy)"] if summary.data.unit else []),
        f"  parameters  {counts.active} of {counts.full} ({counts.reason})",
        *_penalty(counts),
        *_structures(summary.structures),
        *([f"  noise       {summary.noise.sentence}"] if summary.noise else []),
        f"  R²          {_r2_line(summary.r2)}",
        *(f"  coverage    {words}" for words in _coverage(summary)),
        f"  density     {_density(summary.elpd)}",
        f"  posterior   {summary.inference.draws} draws by {summary.inference.method}",
        f"  admissible  {_admissible(proof)}",
        *([f"  of bands    {proof.mixture.sentence}"] if proof.mixture else []),
        f"  seconds     {', '.join(f'{name} {value:.1f}' for name, value in seconds.items())}",
    ]
    if summary.inference.frozen:
        numbers = ", ".join(map(str, summary.inference.frozen))
        lines.append(f"  frozen      particles {numbers} (not finite)")
    lines += [f"  held out    {words}" for words in summary.data.held_out_as]
    lines += [f"  left out    {each.sentence}" for each in summary.across.left_out]
    silent = [mode.sentence for mode in summary.across.modes if not mode.determined]
    lines += [f"  no data     {words}" for words in [*summary.silent, *silent]]
    lines += [f"  trust       {summary.trust.sentence}"] if summary.trust else []
    lines += [f"  note        {note}" for note in summary.data.notes]
    lines += [f"  fault       {fault}" for fault in proof.faults]
    return "\n".join([
        *lines,
        "",
        f"  to quote    {summary.statement}",
        f"  picture     {folder / 'figures' / 'path.png'}",
        f"  report      {folder / 'report.html'}",
        f"  law         {folder / 'law.json'}",
        f"  numbers     {folder / 'summary.json'}",
        f"  checks      {_verdict(summary, folder)}",
    ])  # fmt: skip


def _penalty(counts: Parameters) -> list[str]:
    """Where the law came from; nothing where no network was trained."""
    if counts.penalty == 0:
        return []
    return [
        f"  penalty     λ = {counts.penalty:.3g} log(n)/n left {counts.nonzero} weights (lowest χ² "
        "+ k log n of its path that can be searched), from which the law came"
    ]


def _structures(found: Structures) -> list[str]:
    """How probable the printed law is among those that may hold; nothing where it stands alone."""
    if found.bands == "law":
        return []
    words = f"this law has {100 * found.printed:.0f} % of the weight among {found.count}"
    if found.printed_ways > 1:
        words += f", {100 * found.printed_answer:.0f} % with the {found.printed_ways - 1} that "
        words += "predict the same"
    return [f"  structures  {words}; bands and coverage are those of all of them"]


def _admissible(found: Admissible) -> str:
    """Points by their status; those that are violated follow as faults."""
    parts = []
    for status in ("proven", "checked", "violated", "not demanded"):
        short = [point.short for point in found.points if point.status == status]
        parts += [f"{status}: {', '.join(short)}"] if short else []
    whole = f"{found.checked - found.violated} of {found.checked} laws"
    return f"{whole}; {'; '.join(parts)}"


def _verdict(summary: Summary, folder: Path) -> str:
    """All checks pass, or which do not, and what to do about the first."""
    checks = examine(summary)
    failed = [check.name for check in checks if not check.passed]
    if not failed:
        return f"all {len(checks)} checks pass"
    names, see = ", ".join(failed), f"see steinmetz diagnose {folder}"
    return f"{len(failed)} of {len(checks)} fail ({names}): {advice(checks)}; {see}"


def _density(found: Density) -> str:
    """Log predictive densities per tensor, left out one by one and held out."""
    alone = f"LOO {found.elpd_loo / found.tensors:.3f} ± {found.se / found.tensors:.3f}"
    parts = [f"{alone} per tensor, {found.p_loo:.1f} effective parameters"]
    if found.elpd_test is not None:
        parts.append(f"held out {found.elpd_test / found.test_tensors:.3f}")
    if found.unreliable:
        parts.append(f"unreliable for {found.unreliable} of {found.tensors} tensors (Pareto k)")
    return ", ".join(parts)


def table(rows: Sequence[PrintedRow]) -> list[str]:
    """The table a law is chosen from, a line per number of parameters; the chosen one is marked."""
    known = any(row.r2.path_sampled is not None for row in rows)
    names = ("in range", "extrapol.") if known else ("R² train", "R² test")
    trained = any(row.spread is not None for row in rows)
    last = f"  {'restarts':>15}" if trained else ""
    heads = f"{'χ²/n':>9} {'BIC':>9} {'gain':>6}  {names[0]:>9} {names[1]:>9}{last}"
    lines = [f"  {'row':>5}  {heads}  ok  law"]
    for row in rows:
        r2 = row.r2
        inside, outside = (r2.path_sampled, r2.path_extrapolated) if known else (r2.train, r2.test)
        reached = f"  {_reached(row.spread):>15}" if trained else ""
        gain = "" if row.gain is None else f"{row.gain:.2f}"
        lines.append(
            f"  {'→' if row.picked else ' '} {row.active:>3}  {row.loss:>9.4g} "
            f"{row.criterion:>9.1f} {gain:>6}  {_five(inside):>9} {_five(outside):>9}"
            f"{reached}  {_TICKS[row.admissible]:>2}  "
            f"{_cut(row.law.removeprefix('Ψ = '), _IN_TABLE)}"
        )
    return lines


def _reached(spread: Spread | None) -> str:
    """How many restarts led to a law of this size, and what the best and worst reached."""
    if spread is None:
        return "–"
    return f"{spread.restarts}: {spread.best:.2g}–{spread.worst:.2g}"


def _five(value: float | None) -> str:
    return "–" if value is None else f"{value:.5f}"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _r2_line(r2: R2) -> str:
    parts = {
        "path": r2.path,
        "in range": r2.path_sampled,
        "extrapolated": r2.path_extrapolated,
        "test": r2.test,
        "train": r2.train,
    }
    return ", ".join(
        f"{label} {number(value)}" for label, value in parts.items() if value is not None
    )


def _coverage(summary: Summary) -> list[str]:
    """Shares of values inside the bands; what is extrapolated stands beside what is not."""
    held = "held-out rows" if summary.fit.coverage is None else summary.fit.coverage.of
    parts = {"": summary.coverage}
    if summary.coverage_fitted is not None:
        parts = {f" of {held}": summary.coverage, " of fitted rows": summary.coverage_fitted}
    elif summary.coverage_sampled is not None and summary.coverage_extrapolated is not None:
        parts = {
            " of new data in range": summary.coverage_sampled,
            " of new data beyond, extrapolated": summary.coverage_extrapolated,
        }
    return [
        ", ".join(f"{level} % band {number(value)}" for level, value in shares.items()) + of
        for of, shares in parts.items()
    ]

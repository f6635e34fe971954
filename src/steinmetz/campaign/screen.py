"""What is printed of a campaign: how many runs are done, running, failed and left, and how long."""

from collections.abc import Sequence
from pathlib import Path

from steinmetz.campaign.folder import Found, State

# Failures that are printed; all are in the table.
_SHOWN = 10
_WORDS: dict[State, str] = {
    "done": "done",
    "running": "running",
    "failed": "failed",
    "left": "left",
}


def screen(found: Sequence[Found], table: Path) -> str:
    """Counts, what runs, reasons of failures, and the time that is left."""
    lines = [""]
    for state, word in _WORDS.items():
        those = [one for one in found if one.state == state]
        lines.append(f"  {word:<11} {len(those)} of {len(found)}")
        lines += [f"              {_said(one)}" for one in those[:_SHOWN] if _said(one)]
        more = len(those) - _SHOWN
        lines += [f"              and {more} more"] if more > 0 and _said(those[0]) else []
    return "\n".join([*lines, f"  time left   {remaining(found)}", f"  table       {table}"])


def _said(one: Found) -> str:
    """A line about a run that is under way or failed."""
    if one.state == "failed":
        return f"{one.planned.label} ({one.planned.name}): {one.reason}"
    return f"{one.planned.label} ({one.planned.name})" if one.state == "running" else ""


def remaining(found: Sequence[Found]) -> str:
    """The mean time of finished runs, for those not finished, as many at a time as run now."""
    seconds = [one.seconds for one in found if one.seconds is not None]
    under_way = sum(one.state == "running" for one in found)
    left = under_way + sum(one.state == "left" for one in found)
    if not left:
        return "none"
    if not seconds:
        return "not known before the first run is done"
    each = sum(seconds) / len(seconds)
    whole = each * left / max(under_way, 1)
    size = f"{whole / 60:.0f} min" if whole >= 90 else f"{whole:.0f} s"
    return f"about {size}, {max(under_way, 1)} at a time" + ("" if under_way else " (none runs)")

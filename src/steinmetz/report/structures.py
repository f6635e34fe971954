"""The laws behind the bands in plain numbers and sentences: weights, answers, what they differ in.

These are parts of `summary.json`; screen and page print the sentences as they stand here.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from steinmetz.assess import silence
from steinmetz.assess.answers import Spread
from steinmetz.engine.answers import LEADING, Answer, Answers, Place
from steinmetz.engine.outcome import Outcome
from steinmetz.exporters import text
from steinmetz.posterior.structures import Part
from steinmetz.potentials.law import Law
from steinmetz.records import Document, Segment

# A closed form that a person can still read; the whole of it is in law.json.
_LONGEST = 2000
# The same in a sentence.
_QUOTED = 300
# Laws of a mixture that are listed.
_MOST = 10
# Share of the variance beyond the data below which laws agree there.
_AGREED = 0.1


class Evidence(Document):
    """Log evidence of a law by all data, less what is the same for all laws."""

    linear: float = Field(description="closed form, linear in free constants")
    sampled: float = Field(description="by draws of the posterior as it is")
    error: float = Field(description="standard error of that")
    effective: float = Field(description="share of the draws that would do if they were exact")


class LawOfMixture(Document):
    """A law that may hold."""

    weight: float = Field(description="how often it is found again when the data are drawn anew")
    parameters: int
    answer: int = Field(description="its place among the answers, from 1")
    evidence: Evidence | None = Field(description="of the laws of most weight")
    law: str


class AnswerOfMixture(Document):
    """Laws that predict the same to within half the deviation of their posteriors."""

    weight: float = Field(description="of all of them together")
    ways: int = Field(description="how many laws it is written as")
    law: str = Field(description="the most probable of them")
    differs: str = Field(description="where it is furthest from all laws together")


class Structures(Document):
    """Whose draws make the bands."""

    bands: Literal["mixture", "law"]
    count: int = Field(description="laws that were drawn")
    printed: float = Field(description="weight of the law that is printed")
    printed_answer: float = Field(description="the same with all laws that predict the same")
    printed_ways: int = Field(description="how many laws that are")
    laws: list[LawOfMixture] = Field(description="those of most weight")
    answers: list[AnswerOfMixture] = Field(description="those of most weight")
    sampled: Spread | None = Field(description="bands of laws in the range of the data")
    extrapolated: Spread | None = Field(description="and beyond it")


def short(law: Law) -> str:
    """The closed form, cut where nobody would read on."""
    whole = text.export(law)
    return whole if len(whole) <= _LONGEST else f"{whole[:_LONGEST]} …"


def structures(outcome: Outcome) -> Structures:
    """The laws behind the bands; one alone has all the weight."""
    parts, found = outcome.bands.parts, outcome.answers
    mine = [n for n, part in enumerate(parts) if part.law.graph == outcome.law.graph]
    own = found.of(mine[0]) if mine and found else None
    leading = found.found[:LEADING] if found else ()
    listed = {*range(len(parts))[:_MOST], *(each.laws[0] for each in leading)}
    forms = {n: short(parts[n].law) for n in sorted(listed)}
    numbers = {law: place for place, each in enumerate(found.found if found else (), 1)
               for law in each.laws}  # fmt: skip
    return Structures(
        bands="mixture" if len(parts) > 1 else "law",
        count=len(parts),
        printed=parts[mine[0]].weight if mine else 0.0,
        printed_answer=own.weight if own else float(bool(mine)),
        printed_ways=len(own.laws) if own else len(mine),
        laws=[_law(parts[n], numbers.get(n, 1), forms[n]) for n in range(len(parts))[:_MOST]],
        answers=[_answer(outcome, each, forms[each.laws[0]]) for each in leading],
        sampled=found.sampled if found else None,
        extrapolated=found.extrapolated if found else None,
    )


def _law(part: Part, answer: int, form: str) -> LawOfMixture:
    checked = part.checked
    return LawOfMixture(
        weight=part.weight,
        parameters=part.law.graph.size,
        answer=answer,
        evidence=None if checked is None else Evidence(**checked._asdict()),
        law=form,
    )


def _answer(outcome: Outcome, answer: Answer, form: str) -> AnswerOfMixture:
    """An answer with the sentence on where it differs."""
    places = {"in range": answer.sampled, "beyond the data": answer.extrapolated}
    words = [f"{label}, {_differs(outcome, at)}" for label, at in places.items() if at is not None]
    return AnswerOfMixture(
        weight=answer.weight, ways=len(answer.laws), law=form, differs="; ".join(words)
    )


def _differs(outcome: Outcome, at: Place) -> str:
    """Such as 'S11 at F11 = 0.612 is −3.21, of all laws −3.05 (5.2 %, 0.8 of half the band)'."""
    path, by = outcome.problem.path, at.by
    segment = next(s for s in path.segments if s.points.start <= at.point < s.points.stop)
    where = f"{segment.label} = {path.coordinate[at.point]:.3g}"
    where += f" of {_test(segment)}" if len(path.segments) > 1 else ""
    size = max(abs(by.every), np.finfo(float).tiny)
    share = f"{100 * abs(by.own - by.every) / size:.2g} %" if size > by.half else ""
    half = f"{abs(by.own - by.every) / by.half:.2g} of half the band" if by.half > 0 else ""
    beside = ", ".join(words for words in (share, half) if words)
    name = path.components[at.component]
    return f"{name} at {where} is {by.own:.4g}, of all laws {by.every:.4g} ({beside})"


def _test(segment: Segment) -> str:
    return segment.experiment.replace("_", " ")


def ranges(outcome: Outcome) -> str:
    """Where the data are along the path, such as 'F11 from 0.8 to 1.2'."""
    path, words = outcome.problem.path, []
    for segment, block in zip(path.segments, outcome.problem.blocks, strict=True):
        some = path.coordinate[segment.points][path.sampled[segment.points]]
        if segment.label in block.experiment.columns:
            own = block.rows[:, block.experiment.columns.index(segment.label)]
            some = np.concatenate([some, own])
        if some.size:
            ends = f"{segment.label} from {some.min():.3g} to {some.max():.3g}"
            words.append(f"{ends} in {_test(segment)}" if len(path.segments) > 1 else ends)
    return ", ".join(words)


def silent(outcome: Outcome) -> list[str]:
    """Where no data speak, a sentence each: states, inputs and slopes that no datum sees."""
    problem, found = outcome.problem, []
    if not problem.path.sampled.all():
        found.append(_beyond(outcome, outcome.answers))
    material, train = problem.material, problem.train
    for name in silence.still(train, material.inputs, material.sizes):
        values = np.asarray(train.inputs)[:, material.inputs.index(name)]
        found.append(
            f"{name} hardly changes in the data ({values.min():.4g} to {values.max():.4g}): what "
            f"the law says of {name} comes from its form alone"
        )
    seen, names = silence.slopes_seen(train), material.inputs
    kinds = {block.experiment.name for block in problem.blocks}
    if seen < len(names) and len(kinds) == 1:
        found.append(
            f"every datum sees {seen} of the {len(names)} slopes of Ψ in {_listed(names)} or a "
            f"combination, in one kind of test ({_listed(sorted(kinds)).replace('_', ' ')}): how "
            "they share the stress is decided by the form of the law, and other tests may disagree"
        )
    return found


def _beyond(outcome: Outcome, found: Answers | None) -> str:
    """Of states outside the range of the data."""
    words = f"outside {ranges(outcome)} bands come from the form of the law"
    if found is None or found.extrapolated is None or found.sampled is None:
        return words
    beyond, inside = found.extrapolated, found.sampled
    words = words.replace("the form of the law", "the forms of the laws")
    wider = beyond.width / max(inside.width, np.finfo(float).tiny)
    words += f" and are {silence.times(wider)} as wide as in range"
    words += f" ({100 * beyond.between:.0f} % of the variance because laws differ, "
    words += f"{100 * inside.between:.0f} % in range)"
    if beyond.between < _AGREED:
        words += "; laws agree there because they share their terms, and may all be wrong"
    return words


def _listed(names: Sequence[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def statement(outcome: Outcome, law: str, found: Structures) -> str:
    """Two sentences to quote: the law, how probable it is, how it fits, and where it holds."""
    scores, rows = outcome.scores, len(outcome.problem.train.state)
    name = law if len(law) <= _QUOTED else f"A law of {outcome.law.graph.size} parameters"
    probable = ""
    if found.bands == "mixture":
        probable = f" has a probability of {_percent(found.printed)} among {found.count} laws"
        if found.printed_ways > 1:
            probable += f" ({_percent(found.printed_answer)} with {found.printed_ways - 1} that "
            probable += "predict the same)"
        probable += ","
    fitted = f"{name}{probable} was fitted to {rows} rows with χ²/n = {scores.fit.misfit.value:.2f}"
    covered, of = scores.coverage_sampled or scores.coverage, "new data in range"
    if outcome.along.truth is None:
        of = "fitted rows" if outcome.problem.held_out is None else "held-out rows"
    if (share := covered.get("95")) is not None:
        fitted += f"; its 95 % band holds {_percent(share)} of {of}"
    return f"{fitted.replace(', was', ', and was')}. It is known for {ranges(outcome)}; " + (
        "predictions elsewhere are extrapolated."
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"

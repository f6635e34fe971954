"""What the paper says, in forms that can fail: one record per claim of a figure.

A claim carries the words of the paper that its bound comes from. Both stand in the TOML file of the
figure, so they are fixed before anything is computed. How a claim is judged is in `claims`.
"""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from steinmetz.paper.arms import Frozen
from steinmetz.paper.scores import ScoreKey

ReadingName = Literal["tempered", "proper"]
# A score, which TOML names by a short text such as w1_noisy.all.path.
Score = Annotated[ScoreKey, BeforeValidator(ScoreKey.parse)]


class Check(Frozen):
    """The form in which a claim can fail; `claims` has a function of the name `kind`.

    `words` are those of the paper, shortened. It is judged on rows of one source or of all, in some
    readings or in every one. `value` is the bound of the claim. A claim that is true `by_design`,
    whatever is measured, is shown apart and not counted.
    """

    says: str
    words: str
    source: str = ""
    arms: tuple[str, ...] = ()
    readings: tuple[ReadingName, ...] = ()
    value: float = 0.0
    by_design: bool = False


class FigureCheck(Check):
    """A claim about what one kind of figure shows."""

    kind: Literal["rolls_off", "corner", "overlap", "wells", "same_wells", "sparse", "near_mean"]


class ScoreCheck(Check):
    """A claim about scores, judged for each of them.

    `between`: the two values of the axis that are compared.
    """

    kind: Literal["below", "alike", "least", "most", "falls", "steady", "zero"]
    scores: tuple[Score, ...]
    between: tuple[float, float] = (0.0, 0.0)


AnyCheck = Annotated[FigureCheck | ScoreCheck, Field(discriminator="kind")]

"""Peak memory: of the work inside, not of what was before."""

import numpy as np

from steinmetz.paper.memory import _set_back, peak


def test_the_peak_is_that_of_the_work_inside() -> None:
    with peak() as large:
        del_me = np.ones(40_000_000)
        del del_me
    with peak() as small:
        np.ones(10)
    assert large.gigabytes > 0.3
    if _set_back():
        assert small.gigabytes < large.gigabytes - 0.2

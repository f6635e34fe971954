"""What an exporter gets and gives."""

from typing import NamedTuple, Protocol, runtime_checkable

from steinmetz import registry
from steinmetz.potentials.law import Law


class About(NamedTuple):
    """What a law does not know of itself: its material, the study it comes from, and its unit.

    The unit is that of stress and energy per volume, empty where none was declared. `draw` is the
    number of a draw of the posterior, empty for the law itself.
    """

    material: str = ""
    study: str = ""
    unit: str = ""
    draw: str = ""


# Of a law that comes from nowhere in particular.
NOBODY = About()


@runtime_checkable
class ExporterFile(Protocol):
    """What a file in `exporters` defines; `SUFFIX` is the ending of a file of its kind."""

    SUFFIX: str

    def export(self, law: Law, about: About = NOBODY) -> str:
        """The law in one form."""


def load(name: str) -> ExporterFile:
    """The file of an exporter by name; hyphens stand for underscores."""
    return registry.load_as("exporters", name.replace("-", "_"), ExporterFile)

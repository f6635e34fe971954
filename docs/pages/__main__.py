"""Write every page."""

import sys

from pages import FOLDER, PAGES

for name, write in PAGES.items():
    path = FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(write(), encoding="utf-8")
    print(f"wrote {name}", file=sys.stderr)

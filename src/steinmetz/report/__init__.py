"""Report: summary, figures, page and the files of a run directory."""

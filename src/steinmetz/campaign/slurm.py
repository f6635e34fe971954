"""An array job of SLURM: a task per run, no scheduler service of ours.

Tasks share nothing but the folder; each does the run of its number and leaves if it is done.
"""

import shlex
from pathlib import Path

# Where tasks write what they print, in the folder of the campaign.
LOGS = "logs"
_SCRIPT = """#!/bin/sh
# {count} runs of {grid}, one per task; submit with: sbatch {script}
# Tasks that are done leave at once, so that the same job may be submitted again.
#SBATCH --job-name=steinmetz
#SBATCH --array=0-{last}
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=4G
#SBATCH --time=01:00:00
#SBATCH --signal=B:TERM@60
#SBATCH --output={logs}/%a.log
export JAX_PLATFORMS=cpu
export JAX_COMPILATION_CACHE_DIR={compiled}
exec steinmetz campaign {grid} --only "$SLURM_ARRAY_TASK_ID" --out {out}
"""


def script(grid: Path, out: Path, target: Path, count: int) -> str:
    """The text of the job; memory and time are for small studies and meant to be changed."""
    out = out.absolute()
    return _SCRIPT.format(
        count=count,
        last=count - 1,
        grid=shlex.quote(str(grid.absolute())),
        script=shlex.quote(target.name),
        logs=out / LOGS,
        compiled=shlex.quote(str(out / "compiled")),
        out=shlex.quote(str(out)),
    ).rstrip("\n")

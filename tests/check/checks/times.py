# SPDX-License-Identifier: GPL-2.0
"""How long each stage took when it last passed on this machine."""

import json
import os
from pathlib import Path


def _path():
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("RSM_CACHE") or Path(home, "rsm")) / "check-times.json"


def _remembered():
    try:
        return {name: float(seconds) for name, seconds in json.loads(_path().read_text()).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def expected(stages):
    """{name: seconds}; the table's for stages that have not run here."""
    known = _remembered()
    return {stage.name: known.get(stage.name, stage.seconds) for stage in stages}


def remember(runs):
    """Keeps the times of stages that have passed."""
    known = _remembered()
    known.update({run.stage.name: round(run.seconds, 1) for run in runs if run.verdict == "passed"})
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
    new.replace(path)

# SPDX-License-Identifier: GPL-2.0
"""Which stage runs when: as many at a time as a number of processors allows, the longest way first."""


def ways(stages, expected):
    """{name: seconds from the stage's start to the end of the longest chain that needs it}."""
    found = {}
    for stage in reversed(stages):
        after = [found[other.name] for other in stages if stage.name in other.needs]
        found[stage.name] = expected[stage.name] + max(after, default=0)
    return found


class Plan:
    """What is still to do. Stages stand in the table behind those that they need."""

    def __init__(self, stages, expected, processors):
        self._way = ways(stages, expected)
        self._names = {stage.name for stage in stages}
        self._waiting = list(stages)
        self._processors = processors
        self._free = processors
        self._done = {}

    def __bool__(self):
        return bool(self._waiting)

    def _share(self, stage):
        return min(stage.processors, self._processors)

    def unreachable(self):
        """Takes out stages that need one that had no success: (stage, name of that one)."""
        for stage in self._waiting:
            for name in stage.needs:
                if self._done.get(name, True) is False:
                    self._waiting.remove(stage)
                    self._done[stage.name] = False
                    return stage, name
        return None

    def next(self):
        """Takes out the stage to start now; None when one has to end first."""
        ready = [stage for stage in self._waiting
                 if all(self._done.get(name) for name in stage.needs if name in self._names)]
        ready.sort(key=lambda stage: -self._way[stage.name])
        # One that needs more processors than are free is waited for, or it would never have its turn.
        if not ready or self._share(ready[0]) > self._free:
            ready = [stage for stage in ready if not stage.processors]
        if not ready:
            return None
        self._waiting.remove(ready[0])
        self._free -= self._share(ready[0])
        return ready[0]

    def ended(self, stage, success):
        """Gives its processors back."""
        self._free += self._share(stage)
        self._done[stage.name] = success


def foresee(stages, expected, processors):
    """Seconds that all takes, if each stage takes what is expected of it."""
    plan, now, running = Plan(stages, expected, processors), 0.0, []
    while plan or running:
        while stage := plan.next():
            running.append((now + expected[stage.name], stage.name, stage))
        running.sort()
        now, _, stage = running.pop(0)
        plan.ended(stage, True)
    return now

"""A script being played: which reaction is next, and what is used up."""

from __future__ import annotations

import re

from arena.llm.fake_faults import FaultDraw, FaultName
from arena.llm.fake_reply import FakeRequest
from arena.llm.fake_script import MIN_STATUS, Rule, Script


class Playback:
    """Reacts to each call in order of asking."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self._played = [0] * len(script.rules)
        self._replied = 0
        self._faults = FaultDraw(script.faults, script.seed)

    def fault(self, request: FakeRequest) -> FaultName | None:
        """The fault that this asking of `request` meets."""
        return self._faults.draw(request.call_id) if self._faults.any else None

    def react(self, prompt: str) -> Rule | None:
        """The rule to play for `prompt`; None = the script says nothing."""
        for place, rule in enumerate(self.script.rules):
            used_up = rule.times is not None and self._played[place] >= rule.times
            if not used_up and re.search(rule.when or "", prompt):
                self._played[place] += 1
                return rule
        if not self.script.replies:
            return None
        self._replied += 1
        if self._replied > len(self.script.replies):
            return Rule(error=MIN_STATUS, message="the script's replies are used up")
        return Rule(reply=self.script.replies[self._replied - 1])

    def latency_seconds(self, rule: Rule | None) -> float:
        own = rule.latency_seconds if rule is not None else None
        return self.script.latency_seconds if own is None else own

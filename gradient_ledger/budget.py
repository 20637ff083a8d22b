"""What may be looked at: values cost a pass over memory, on a GPU a wait, and the first times tell most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

SAMPLES = 4
"""Norms are taken at the first so many steps and clips, and afterwards only where something looks wrong."""
LOOKS = 64
"""How often a value is looked at for one kind of doubt, unless said otherwise."""


class Budget:
    """Counts the looks taken for each kind of doubt."""

    def __init__(self) -> None:
        self._looks: Counter[Hashable] = Counter()

    def asked(self, doubt: Hashable) -> int:
        """How often it has been asked about this doubt, this time included. Asking counts as looking."""
        looks = self._looks[doubt] = self._looks.get(doubt, 0) + 1
        return looks

    def count(self, doubt: Hashable) -> int:
        """How often it has been asked, without asking."""
        return self._looks.get(doubt, 0)

    def looks(self) -> dict[Hashable, int]:
        """How often it was asked about each doubt so far."""
        return dict(self._looks)

    def more(self, looks: dict[Hashable, int]) -> None:
        """So many more questions have been asked and answered as before."""
        self._looks.update(looks)

    def may_look(self, doubt: Hashable, at_most: int = LOOKS) -> bool:
        """Whether a value may still be looked at for this doubt. Asking counts as looking."""
        return self.asked(doubt) <= at_most

    def refund(self, doubt: Hashable) -> None:
        """The look paid: it found what it was for, so it does not count."""
        self._looks[doubt] -= 1

"""The pytest fixture `gradient_ledger`: a test that trains under it fails when the ledger finds an error.

Installed with the package (entry point `pytest11`). Nothing of torch is imported until a test asks for the fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from gradient_ledger import GradientLedger


@pytest.fixture
def gradient_ledger() -> Iterator[GradientLedger]:
    """An open ledger around the test; at its end `assert_clean()`.

    `gradient_ledger.expected("never-zeroed")` accepts a mistake the test makes on purpose.
    """
    from gradient_ledger import GradientLedger

    ledger = GradientLedger()
    with ledger:
        yield ledger
    ledger.assert_clean()

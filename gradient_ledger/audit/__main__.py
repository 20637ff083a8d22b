"""`python -m gradient_ledger.audit train.py`, the name that torchrun is given: see `gradient_ledger.audit`."""

import sys

from gradient_ledger.audit import main

sys.exit(main())

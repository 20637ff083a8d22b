"""`python -m gradient_ledger train.py`: see `gradient_ledger.audit`."""

import sys

from gradient_ledger.audit import main

sys.exit(main())

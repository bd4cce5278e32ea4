"""`python -m tests.faults`: see `tests.faults.soak`."""

import sys

from tests.faults.soak import main

if __name__ == "__main__":
    sys.exit(main())

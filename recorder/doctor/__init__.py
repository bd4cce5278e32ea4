"""What is missing for a recording, and what to do about it.

One module for each thing to check: what is found out about it, and how that is
judged. The components that can find it out, in the cluster, the database or
the data folder, are passed in (`Probes`). Nothing is changed.
"""

from recorder.doctor.check import Check, check_lines, checks_document, untried

__all__ = ["Check", "check_lines", "checks_document", "untried"]

"""What is missing for a recording, and what to do about it.

One module a thing to look at: what is found out about it, and what to think
of that, side by side. Who can find it out, in the cluster, the database or
the data folder, is given (`Probes`). Nothing is changed.
"""

from recorder.doctor.check import Check, check_lines, checks_document, untried

__all__ = ["Check", "check_lines", "checks_document", "untried"]

"""Whether a site's own rules can be used."""

from recorder.report.checks.check import Check

__all__ = ["judge_rules"]


def judge_rules(name: str, file: str, trouble: str | None) -> Check:
    """Judge one file of rules.

    Args:
        name: of the check.
        file: as the setting names it.
        trouble: why it cannot be used, in words, with the line.
    """
    if trouble is None:
        return Check(name=name, ok=True, says=f'"{file}" can be used')
    return Check(
        name=name,
        ok=False,
        says=trouble,
        remedy="mend the file, or take it out of the setting"
        " RECORDER_KNOWLEDGE: until then nothing is explained",
    )

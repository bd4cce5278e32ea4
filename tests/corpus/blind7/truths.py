"""What is true of each incident of the seventh set, before it was written."""

from typing import Any

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["TRUTHS"]

DRAIN = (14, 1, 11)
"""A person cordons and evicts, and nothing says for what."""


def _away(name: str, node: str, gpus: int = 4, **more: Any) -> dict[str, Any]:
    return job(
        f"Job/train/{name}",
        gpus,
        "rescheduled",
        "evicted",
        "restarted",
        lost_on=[node],
        **more,
    )


def _died(node: str, *jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return asked(
        node,
        "reboot",
        ABRUPT,
        planned=False,
        jobs=list(jobs),
        boots=(1, 2),
        stopped=("crash", "boot"),
        **more,
    )


def _calm(node: str, *jobs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return asked(node, "none", planned=False, jobs=list(jobs), **more)


def _truth(name: str, says: str, *asks: Any, audit: bool = False) -> Truth:
    return Truth(
        name=name,
        software="Kubernetes",
        says=says,
        audit=audit,
        questions=asks,
    )


_ALL = (
    _truth(
        "h01_after_five_minutes",
        "A machine dies; the taint manager deletes its Pod after 300 s, and "
        "the Job starts on another node. The machine boots later.",
        _died("n1", _away("a", "n1")),
        _calm("n2"),
    ),
    _truth(
        "h02_fails_beside_a_drain",
        "mia drains a node; at that moment a Job on another fails by itself.",
        _calm("n1", _away("a", "n1")),
        _calm("n2", not_hit=["train/b"]),
        audit=True,
    ),
    _truth(
        "h03_done_and_collected",
        "A Job completes and is deleted for its TTL; then the machine dies.",
        _died("n1", _away("a", "n1"), not_hit=["train/done"]),
    ),
    _truth(
        "h04_moved_before",
        "A drain moves a Job to another node; later the first one dies.",
        _died(
            "n1",
            _away("b", "n1"),
            window=["later", "end"],
            not_hit=["train/a"],
        ),
        _calm("n1", _away("a", "n1"), window=["start", "later"]),
        audit=True,
    ),
    _truth(
        "h05_out_of_its_own_memory",
        "A container exceeds its own limit and is restarted in place.",
        _calm("n1", may_list=["train/a"]),
    ),
    _truth(
        "h06_memory_pressure",
        "The kubelet evicts a Pod for the memory of its node; another stays.",
        _calm("n1", _away("a", "n1"), job("Job/train/b", 4, "survived")),
    ),
    _truth(
        "h07_policy_fails_the_job",
        "A machine dies; podFailurePolicy fails the Job at its first "
        "disruption.",
        _died("n1", job("Job/train/a", 4, "failed", lost_on=["n1"])),
    ),
    _truth(
        "h08_policy_ignores_it",
        "nils drains a node; podFailurePolicy ignores the disruption, so that "
        "a Job without retries goes on elsewhere.",
        _calm("n1", _away("a", "n1")),
        audit=True,
    ),
    _truth(
        "h09_one_index",
        "A machine dies under one index of a Job with backoffLimitPerIndex 0: "
        "that index has failed, and the other runs.",
        _died(
            "n1",
            job(
                "Job/train/a",
                8,
                "still_down",
                "failed",
                "down",
                lost_on=["n1"],
                gang=2,
            ),
        ),
        _calm("n2", job("Job/train/a", 8, "survived"), may_list=["train/a"]),
    ),
    _truth(
        "h10_past_its_deadline",
        "A Job passes its activeDeadlineSeconds while ola cordons its node.",
        _calm("n1", not_hit=["train/a"]),
        audit=True,
    ),
    _truth(
        "h11_suspended_then_crash",
        "A Job is suspended; twenty seconds later its machine dies under "
        "another.",
        _died("n1", _away("b", "n1"), not_hit=["train/a"]),
    ),
    _truth(
        "h12_preempted_then_crash",
        "A Job is preempted by another of a higher priority; twenty seconds "
        "later the machine dies under that.",
        _died(
            "n1",
            _away("high", "n1", 8),
            job("Job/train/low", 8, "preempted", lost_on=["n1"]),
        ),
    ),
    _truth(
        "h13_no_gpu_is_left",
        "A device plugin fails: a Pod is refused with "
        "UnexpectedAdmissionError, the one that runs goes on.",
        _calm("n1", job("Job/train/a", 4, "survived"), may_list=["train/b"]),
    ),
    _truth(
        "h14_bare_pod_drained",
        "pia drains a node with a Pod that nothing owns: it is gone for good.",
        _calm("n1", job("Pod/train/lone", 4, "still_down", "down")),
        audit=True,
    ),
    _truth(
        "h15_retries_used_up",
        "A Job fails for good by its own exits; ten seconds later its node is "
        "drained of another.",
        _calm("n1", _away("b", "n1"), not_hit=["train/a"]),
        audit=True,
    ),
    _truth(
        "h16_kubelet_starts_anew",
        "A kubelet is restarted, and its Job goes on; a Job completes then.",
        asked(
            "n1",
            "kubelet_restart",
            (9,),
            planned=False,
            jobs=[job("Job/train/a", 4, "survived")],
            may_list=["train/b"],
        ),
    ),
)

TRUTHS = {truth.name: truth for truth in _ALL}
"""Every truth, by the name of its incident."""

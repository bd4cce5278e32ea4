# ruff: noqa: E501 - one row, one line
"""What is true of each job of the eighth set, before it was written."""

from typing import Final

from tests.corpus.jobs_expected import (
    BACK,
    EMPTIED,
    HALF,
    NODE,
    REMOVED,
    Expected,
)

__all__ = ["EXPECTED"]

ANY = ""
"""Any name is right, and none."""

EXPECTED: Final = [
    Expected(*row)
    for row in (
        ("k01_jobset_waits_for_a_boot", "jobset/train/llm", "n1", NODE, BACK),
        ("k02_one_group_of_two", "leaderworkerset/serve/moe", "n1", NODE, BACK),
        ("k03_goes_on_with_less", "pytorchjob/train/dlrm", "n2", NODE, f"{BACK} {HALF}"),
        ("k04_ray_worker", "raycluster/ml/sweep", "n1", NODE, BACK),
        ("k05_launcher_fails_first", "mpijob/hpc/gromacs", "n1", "container-exit", "failed"),
        ("k05_launcher_fails_first", "mpijob/hpc/gromacs", "n2", "-", "failed"),
        ("k05_launcher_fails_first", "job/train/b", "n2", NODE, BACK),
        ("k06_two_gangs_of_a_node", "job/ml/resnet", "n1", NODE, BACK),
        ("k06_two_gangs_of_a_node", "job/ml/vit", "n1", NODE, BACK),
        ("k06_two_gangs_of_a_node", "job/ml/alone", "n3", "-", BACK),
        ("k07_driver_is_drained", "sparkapplication/etl/nightly", "n1", EMPTIED, BACK, "lea"),
        ("k08_step_is_evicted", "workflow/ml/eval-x7d", "n1", "eviction", BACK, "kubelet"),
        ("k08_step_is_evicted", "job/train/b", "n1", "-", BACK),
        ("k09_operator_deletes_all", "choir/train/chorale", "n1", f"{NODE} deletion", BACK, ANY),
        ("k10_anew_under_its_name", "weave/ml/weave", "n1", "-", BACK),
        ("k10_anew_under_its_name", "job/train/b", "n1", NODE, BACK),
        ("k11_deleted_by_force", "statefulset/db/vec", "n1", NODE, BACK),
        ("k12_back_within_tolerance", "deployment/web/chat", "n1", "-", BACK),
        ("k13_restarted_in_place", "job/train/a", "n1", NODE, BACK),
        ("k14_budget_refuses", "job/train/a", "n1", EMPTIED, BACK, "mia"),
        ("k14_budget_refuses", "deployment/web/chat", "n1", "-", BACK),
        ("k15_device_is_tainted", "job/train/a", "n1", f"eviction {NODE}", BACK, ANY),
        ("k15_device_is_tainted", "job/train/b", "n1", "-", BACK),
        ("k16_refused_after_a_boot", "trainjob/train/ft", "n1", f"{NODE} eviction", BACK, ANY),
        ("k17_gap_hides_the_loss", "rayjob/ml/tune", "n1", f"{NODE} unrecorded", BACK),
        ("k18_gap_hides_an_eviction", "deployment/web/rank", "n1", "eviction", BACK, "kubelet"),
        ("k19_preempted_by_a_jobset", "job/train/low", "n1", "preemption", "down pending", None, "JobSet train/urgent"),
        ("k19_preempted_by_a_jobset", "job/train/low", "n2", "preemption", "down pending", None, "JobSet train/urgent"),
        ("k20_scaled_in_beside_a_cordon", "convoy/ml/queue", "n1", "deletion", f"{BACK} {HALF}", "steward"),
        ("k21_node_is_deleted", "pytorchjob/train/clip", "n1", REMOVED, BACK, "vera"),
        ("k22_init_container_fails", "job/train/a", "n1", "container-exit", "failed"),
        ("k22_init_container_fails", "job/train/b", "n1", "-", BACK),
        ("k23_out_of_memory_elsewhere", "jobset/train/moe", "n2", "container-oom", BACK),
        ("k23_out_of_memory_elsewhere", "jobset/train/moe", "n1", "-", BACK),
    )
]  # fmt: skip

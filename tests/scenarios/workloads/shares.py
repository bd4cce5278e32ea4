"""GPUs of every maker, in parts, and asked for in other ways."""

from collections.abc import Sequence
from typing import Any

from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.workloads.work import JOBS, owned


def asks_for(resource: str, amount: int, **more: Any) -> dict[str, Any]:
    """Return a container that asks for a resource."""
    amounts = {resource: str(amount)}
    limits = {"limits": amounts, "requests": amounts}
    return {"name": "main", "resources": limits, **more}


def struck(scene: Scene, *, gpus: int, more: Sequence[int] = ()) -> Scene:
    """Let the one Pod of a Job be lost with its node, and come back."""
    scene.silent(20, "gpu-002").boots(75, "gpu-002")
    scene.pod(92, "w-0", "kubelet", ended=(255, "Unknown"), again=True)
    scene.hit(
        "Job",
        "llm",
        "gpu-002",
        ["w-0"],
        size=1,
        gpus=gpus,
        outcome="restarted",
        again=92,
        accept={"gpus": more},
    )
    return scene.unexplained("gpu-002")


def job(*containers: Any, init: tuple[Any, ...] = (), **spec: Any) -> Scene:
    """Let a Job of one Pod run on gpu-002."""
    scene = Scene()
    if init:
        spec["initContainers"] = list(init)
    spec["containers"] = list(containers)
    of = owned(scene, "Job", JOBS)
    return scene.runs(-5, "w-0", "gpu-002", of=of, **spec)


@incident
def a_job_with_gpus_of_amd_is_hit() -> Scene:
    return struck(job(asks_for("amd.com/gpu", 8)), gpus=8)


@incident
def a_job_with_parts_of_a_gpu_is_hit() -> Scene:
    # Two of the seven parts are one GPU at most, and not a whole one.
    part = asks_for("nvidia.com/mig-3g.40gb", 2)
    return struck(job(part), gpus=0, more=[1])


@incident
def a_job_that_shares_its_gpu_is_hit() -> Scene:
    part = asks_for("nvidia.com/gpu.shared", 4)
    return struck(job(part), gpus=0, more=[1])


@incident
def a_job_whose_first_container_looks_at_the_gpus_is_hit() -> Scene:
    main = asks_for("nvidia.com/gpu", 8)
    looks = asks_for("nvidia.com/gpu", 8, name="burn-in")
    return struck(job(main, init=(looks,)), gpus=8)


@incident
def a_job_with_a_gpu_in_its_sidecar_is_hit() -> Scene:
    main = asks_for("nvidia.com/gpu", 7)
    beside = asks_for(
        "nvidia.com/gpu", 1, name="profiler", restartPolicy="Always"
    )
    return struck(job(main, init=(beside,)), gpus=8)


@incident
def a_job_of_two_containers_with_gpus_is_hit() -> Scene:
    one = asks_for("nvidia.com/gpu", 4)
    other = asks_for("nvidia.com/gpu", 4, name="other")
    return struck(job(one, other), gpus=8)


@incident
def a_job_that_claims_its_gpus_is_hit() -> Scene:
    # How many a claim holds is in the claim, which is not recorded.
    main = {"name": "main", "resources": {"claims": [{"name": "gpus"}]}}
    claim = {"name": "gpus", "resourceClaimTemplateName": "eight-gpus"}
    return struck(job(main, resourceClaims=[claim]), gpus=0)

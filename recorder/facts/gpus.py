"""How many GPUs a Pod holds."""

from typing import Any

from recorder.classify.shapes import PodSpec

__all__ = ["gpus_of"]

GPU = "gpu"
"""What every accelerator resource has in its name, ``nvidia.com/gpu`` and
``amd.com/gpu`` among them."""


def gpus_of(spec: PodSpec) -> int:
    """Give what a Pod holds: what runs at once, beside what runs before."""
    held = sum(_gpus(c) for c in spec.containers or ())
    beside = most = 0
    for container in spec.init_containers or ():
        first = beside + _gpus(container)
        if container.restart_policy == "Always":
            beside = first
        most = max(most, first)
    return max(held + beside, most)


def _gpus(container: Any) -> int:
    resources = container.resources
    if resources is None:
        return 0
    asked = resources.limits or resources.requests or {}
    return sum(
        int(amount)
        for name, amount in asked.items()
        if name.endswith(GPU) and str(amount).isdecimal()
    )

"""How many GPUs a Pod holds."""

from collections.abc import Iterable

from recorder.classify.shapes import Container

__all__ = ["gpus_of"]

GPU = "gpu"
"""What every accelerator resource has in its name, ``nvidia.com/gpu`` and
``amd.com/gpu`` among them."""


def gpus_of(
    first: Iterable[Container], containers: Iterable[Container]
) -> int:
    """Return what a Pod holds: what runs at once, beside what runs before.

    Args:
        first: its init containers.
        containers: the others.
    """
    held = sum(map(_gpus, containers))
    beside = most = 0
    for container in first:
        now = beside + _gpus(container)
        if container.restart_policy == "Always":
            beside = now
        most = max(most, now)
    return max(held + beside, most)


def _gpus(container: Container) -> int:
    resources = container.resources
    if resources is None:
        return 0
    asked = resources.limits or resources.requests or {}
    return sum(
        int(amount)
        for name, amount in asked.items()
        if name.endswith(GPU) and str(amount).isdecimal()
    )

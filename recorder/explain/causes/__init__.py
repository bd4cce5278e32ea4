"""Causes: one module for each decision and each fault: what it looks like."""

from recorder.explain.causes import (
    admin_request,
    auto_remediation,
    container_oom,
    control_plane_outage,
    disk_fault,
    driver_upgrade,
    gpu_fault,
    host_maintenance,
    hung_kernel,
    kernel_panic,
    kubelet_failure,
    link_fault,
    manual_drain,
    memory_fault,
    network_partition,
    node_deletion,
    os_upgrade,
    other_fault,
    power_loss,
    preemption,
    runtime_failure,
    scale_down,
    system_oom,
    thermal_fault,
)
from recorder.explain.causes.cause import DecisionCause, FaultCause, Found

__all__ = [
    "DECISIONS",
    "DecisionCause",
    "FAULTS",
    "FaultCause",
    "Found",
]

FAULTS: tuple[FaultCause, ...] = (
    kernel_panic.CAUSE,
    control_plane_outage.CAUSE,
    gpu_fault.CAUSE,
    memory_fault.CAUSE,
    thermal_fault.CAUSE,
    link_fault.CAUSE,
    disk_fault.CAUSE,
    runtime_failure.CAUSE,
    hung_kernel.CAUSE,
    system_oom.CAUSE,
    container_oom.CAUSE,
    other_fault.CAUSE,
    kubelet_failure.CAUSE,
    power_loss.CAUSE,
    network_partition.CAUSE,
)

DECISIONS: tuple[DecisionCause, ...] = (
    preemption.CAUSE,
    host_maintenance.CAUSE,
    scale_down.CAUSE,
    os_upgrade.CAUSE,
    driver_upgrade.CAUSE,
    auto_remediation.CAUSE,
    admin_request.CAUSE,
    manual_drain.CAUSE,
    node_deletion.CAUSE,
)

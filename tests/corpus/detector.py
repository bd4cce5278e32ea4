"""node-problem-detector as its makers wrote it, beside each kubelet.

It follows the kernel log of its machine, a file here, and sets a condition of
the Node and reports an Event when the driver logs an Xid that ends a GPU. It
ends with its machine and starts with it, on a log that is new.
"""

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

from tests.cluster.binaries import built
from tests.cluster.processes import Part
from tests.corpus.operators import Operator
from tests.corpus.stage import Stage

__all__ = ["CONDITION", "DETECTOR", "Detector"]

DETECTOR = Operator(
    name="npd",
    package="k8s.io/node-problem-detector/cmd/nodeproblemdetector",
    requires="k8s.io/node-problem-detector",
    version="v1.34.0",
    crds=(),
)

USER = "system:serviceaccount:node-system:node-problem-detector"

CONDITION = "GPUXidError"

XID = r"NVRM: Xid \(PCI:[0-9a-f:]+\): "

RULES = {
    "GPUDoubleBitError": XID + "48, .*",
    "GPUFallenOffTheBus": XID + "79, .*",
    "GPUUncontainedError": XID + "95, .*",
}
"""Reasons, and what the driver logs then."""


class Detector:
    """The detector of one machine."""

    def __init__(self, stage: Stage, node: str) -> None:
        folder = stage.cluster.folder / "detectors" / node
        folder.mkdir(parents=True)
        self._log = folder / "kern.log"
        config = folder / "kernel-monitor.json"
        config.write_text(json.dumps(_config(self._log)))
        pair = stage.cluster.authority.client(USER, ["system:masters"])
        kubeconfig = stage.cluster.kubeconfig_for(pair, f"detector-{node}")
        server = f"{stage.cluster.server}?inClusterConfig=false"
        self._flags: dict[str, str | None] = {
            "apiserver-override": f"{server}&auth={kubeconfig}",
            "config.system-log-monitor": str(config),
            "hostname-override": node,
            "port": "0",
            "prometheus-port": "0",
        }
        self._folder, self._binary = folder, stage.cluster.binary
        self._part: Part | None = None

    async def start(self) -> None:
        """Start it, with an empty kernel log."""
        self._log.write_text("")
        program = await asyncio.to_thread(built, DETECTOR)
        named = self._folder / "node-problem-detector"
        if not named.exists():
            # As clients are called in the audit log.
            named.symlink_to(program)
        command = [str(self._binary), "exec", str(named)]
        self._part = Part("npd", command, self._flags, folder=self._folder)
        await self._part.start()

    def kill(self) -> None:
        """Stop it when its machine stops."""
        if self._part is not None:
            self._part.kill_now()

    def kernel_logs(self, message: str) -> None:
        """Append a line to the kernel log of the machine."""
        at = datetime.now(UTC).isoformat(timespec="microseconds")
        with self._log.open("a") as log:
            log.write(f"{at} kernel: {message}\n")


def _config(log: Path) -> dict[str, object]:
    """Return a monitor as its makers' ``kernel-monitor-filelog.json``."""
    return {
        "plugin": "filelog",
        "pluginConfig": {
            "timestamp": r"^\S+",
            "message": "kernel: (.*)",
            "timestampFormat": "2006-01-02T15:04:05.999999Z07:00",
        },
        "logPath": str(log),
        "lookback": "5m",
        "bufferSize": 10,
        "source": "kernel-monitor",
        "conditions": [
            {
                "type": CONDITION,
                "reason": "NoGPUXidError",
                "message": "the driver has logged no fatal Xid since boot",
            }
        ],
        "rules": [
            {
                "type": "permanent",
                "condition": CONDITION,
                "reason": reason,
                "pattern": pattern,
            }
            for reason, pattern in RULES.items()
        ],
    }

"""A real Slurm on this machine: munge, slurmctld, slurmd, slurmrestd.

With accounting also slurmdbd and MariaDB. The packages are Debian's; several
slurmd run on one host, each of a node of its own. It needs root, because
slurmd does.
"""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from pwd import getpwnam
from types import TracebackType
from typing import Self

import pytest

from tests.support.programs import found, need_plugin

__all__ = ["CLUSTER", "Laboratory"]

CLUSTER = "lab"
READY_SECONDS = 30.0

SLURMS = frozenset(
    {
        *("slurmctld", "slurmd", "slurmdbd", "slurmrestd", "sbatch", "sinfo"),
        *("scontrol", "scancel", "squeue", "sacctmgr", "sacct"),
    }
)

PARTITIONS = """
PartitionName=train Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE
PartitionName=infer Nodes=ALL PriorityTier=10 State=UP PreemptMode=OFF
"""
PREEMPTION = "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n"


class Laboratory:
    """Daemons of Slurm in a folder of their own; entered, they run."""

    def __init__(
        self,
        nodes: int,
        *,
        accounting: bool = False,
        pushed_to: str = "",
        root: Path | None = None,
    ) -> None:
        """Prepare nodes ``gpu-001`` and so on.

        Args:
            nodes: how many.
            accounting: whether slurmdbd runs.
            pushed_to: where jobcomp/elasticsearch posts finished runs.
            root: a folder with another release of Debian, whose Slurm runs;
                munge and MariaDB are those of the machine.
        """
        if pushed_to:
            need_plugin(
                "jobcomp_elasticsearch", "slurm-wlm-elasticsearch-plugin"
            )
        self._pushed_to = pushed_to
        self._root = root
        if os.geteuid() != 0:
            pytest.fail("the laboratory of Slurm needs root", pytrace=False)
        self.nodes = [f"gpu-{number:03}" for number in range(1, nodes + 1)]
        self._accounting = accounting
        self._ports = [_free_port() for _ in range(nodes + 4)]
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        """The address of slurmrestd."""
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def log(self) -> Path:
        """The log file of slurmctld."""
        return self._folder / "slurmctld.log"

    @property
    def token_file(self) -> Path:
        """The file with a token."""
        return self._folder / "token"

    def __enter__(self) -> Self:
        """Start everything."""
        # Users of the daemons must reach it: a folder of pytest is closed.
        self._folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        self._folder.chmod(0o755)
        try:
            self._configure()
            self._start_munge()
            if self._accounting:
                self._start_accounting()
            self.start_controller()
            for node in self.nodes:
                self.start_slurmd(node)
            self._start_rest()
            self.write_token()
            self.wait(self.is_ready, "the nodes")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End everything that was started."""
        if "slurmctld" in self._running:
            self._try("scancel", "--user=root", "--signal=KILL", "--full")
            self._try("scancel", "--user=root")
        for name in reversed([*self._running]):
            self.end(name, signal.SIGTERM)
        for process in self._left():
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _left(self) -> Iterator[int]:
        """Yield the processes of jobs, which outlive a slurmd."""
        ours = f"SLURM_CONF={self._folder}/".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if ours in path.read_bytes():
                    yield int(path.parent.name)

    def run(self, *words: str) -> str:
        """Run a command of Slurm; return what it printed."""
        done = subprocess.run(
            self._inside(*words),
            env=self._environment,
            cwd="/tmp",
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout.strip()

    def submit(self, *words: str, script: str = "srun sleep 600") -> int:
        """Submit a job; return its id."""
        quiet = ("--parsable", "-o", "/dev/null", "-e", "/dev/null")
        return int(self.run("sbatch", *quiet, *words, "--wrap", script))

    def state_of(self, job: int) -> str:
        """Return the state of a job, by the controller."""
        shown = self.run("scontrol", "show", "job", "-o", str(job))
        return shown.partition("JobState=")[2].partition(" ")[0]

    def wait_for(self, job: int, *states: str) -> None:
        """Wait until a job is in a state."""
        self.wait(lambda: self.state_of(job) in states, f"job {job}")

    def wait(
        self,
        ready: Callable[[], bool],
        what: str,
        seconds: float = READY_SECONDS,
    ) -> None:
        """Wait until something is so."""
        until = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > until:
                logs = "\n".join(
                    f"{path.name}: {path.read_text(errors='replace')[-1500:]}"
                    for path in sorted(self._folder.glob("*.log"))
                )
                pytest.fail(f"{what} did not come\n{logs}", pytrace=False)
            time.sleep(0.1)

    def start_controller(self) -> None:
        """Start slurmctld, with the state that it kept."""
        self._start("slurmctld", "slurmctld", "-D", user="slurm")

    def lose_state(self) -> None:
        """Remove what slurmctld, which must not run, has saved."""
        for path in self._state.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def start_slurmd(self, node: str, *, new_boot: bool = False) -> None:
        """Start the slurmd of a node; after a boot, as it says itself."""
        boot = ["-b"] if new_boot else []
        self._start(node, "slurmd", "-D", "-N", node, *boot)

    def end(self, name: str, how: signal.Signals = signal.SIGKILL) -> None:
        """End a daemon: ``slurmctld``, ``slurmdbd``, or that of a node."""
        process = self._running.pop(name)
        process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def write_token(self, seconds: int = 3600) -> None:
        """Write a new token."""
        said = self.run(
            "scontrol", "token", "username=slurm", f"lifespan={seconds}"
        )
        self.token_file.write_text(said.partition("=")[2] + "\n")
        self.token_file.chmod(0o600)

    def start_accounting_daemon(self) -> None:
        """Start slurmdbd."""
        self._start("slurmdbd", "slurmdbd", "-D", user="slurm")

    @property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, "SLURM_CONF": str(self._folder / "slurm.conf")}

    def _try(self, *words: str) -> None:
        subprocess.run(
            self._inside(*words),
            env=self._environment,
            capture_output=True,
            check=False,
            timeout=30,
        )

    def _inside(self, *words: str) -> Sequence[str]:
        """Return a command as it runs in the root of Slurm."""
        if self._root is None or not SLURMS.intersection(words):
            return words
        script = (
            'mount -t proc proc "$1/proc" && mount --bind /tmp "$1/tmp"'
            ' && exec chroot "$@"'
        )
        outside = ("unshare", "--mount", "sh", "-c", script, "sh")
        return [*outside, str(self._root), *words]

    def _start(self, name: str, *words: str, user: str = "root") -> None:
        command: Sequence[str] = words
        if self._root is None:
            command = [found(words[0]), *words[1:]]
        if user != "root":
            group = str(getpwnam(user).pw_gid)
            ids = ("--reuid", user, "--regid", group, "--init-groups")
            command = ["setpriv", *ids, *command]
        environment = self._environment
        if name == "slurmrestd":
            environment["SLURM_JWT"] = "daemon"
        with (self._folder / f"{name}.log").open("ab") as log:
            self._running[name] = subprocess.Popen(
                self._inside(*command),
                env=environment,
                cwd="/tmp",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _folder_of(self, user: str, name: str) -> Path:
        path = self._folder / name
        path.mkdir()
        path.chmod(0o755)
        shutil.chown(path, user)
        return path

    def _key(self, user: str, name: str, size: int) -> Path:
        path = self._folder / name
        path.write_bytes(secrets.token_bytes(size))
        path.chmod(0o400)
        shutil.chown(path, user)
        return path

    def _configure(self) -> None:
        for package in ("slurmctld", "munged"):
            found(package)
        self._munge = self._folder_of("munge", "munge")
        self._state = self._folder_of("slurm", "state")
        self._jwt = self._key("slurm", "jwt.key", 32)
        host = socket.gethostname()
        _, control, database, _, *ports = self._ports
        socket_file = self._munge / "socket"
        reboot = self._folder / "reboot.sh"
        reboot.write_text("#!/bin/sh\nexit 0\n")
        reboot.chmod(0o755)
        lines = [
            f"ClusterName={CLUSTER}",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={control}",
            "SlurmUser=slurm",
            "AuthType=auth/munge",
            f"AuthInfo=socket={socket_file}",
            "CredType=cred/munge",
            "AuthAltTypes=auth/jwt",
            f"AuthAltParameters=jwt_key={self._jwt}",
            f"StateSaveLocation={self._state}",
            f"SlurmdSpoolDir={self._folder}/spool-%n",
            f"SlurmctldPidFile={self._state}/slurmctld.pid",
            f"SlurmdPidFile={self._folder}/slurmd-%n.pid",
            f"RebootProgram={reboot}",
            "ProctrackType=proctrack/linuxproc",
            "TaskPlugin=task/none",
            "SlurmdTimeout=8",
            "KillWait=1",
            "MinJobAge=30",
            "ReturnToService=1",
            "JobRequeue=1",
            "MaxJobCount=30000",
            "SchedulerParameters=sched_interval=1,batch_sched_delay=0",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_Core",
            "JobAcctGatherType=jobacct_gather/none",
        ]
        if self._accounting:
            lines += [
                "AccountingStorageType=accounting_storage/slurmdbd",
                "AccountingStorageHost=127.0.0.1",
                f"AccountingStoragePort={database}",
                f"AccountingStoragePass={socket_file}",
            ]
        if self._pushed_to:
            lines += [
                "JobCompType=jobcomp/elasticsearch",
                f"JobCompLoc={self._pushed_to}",
            ]
        lines += [
            f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1"
            f" Port={port} CPUs=2 RealMemory=1000"
            for node, port in zip(self.nodes, ports, strict=True)
        ]
        text = "\n".join([*lines, PREEMPTION + PARTITIONS])
        (self._folder / "slurm.conf").write_text(text)
        if self._root is not None:
            cgroup = self._folder / "cgroup.conf"
            cgroup.write_text("CgroupPlugin=disabled\n")
        for node in self.nodes:
            (self._folder / f"spool-{node}").mkdir()

    def _start_munge(self) -> None:
        key = self._key("munge", "munge.key", 1024)
        self._start(
            "munged",
            "munged",
            "--foreground",
            f"--key-file={key}",
            f"--socket={self._munge}/socket",
            f"--pid-file={self._munge}/pid",
            f"--log-file={self._munge}/log",
            f"--seed-file={self._munge}/seed",
            user="munge",
        )
        self.wait((self._munge / "socket").exists, "munge")

    def _start_accounting(self) -> None:
        data = self._folder_of("mysql", "db")
        place = data / "socket"
        subprocess.run(
            [
                found("mariadb-install-db"),
                "--user=mysql",
                f"--datadir={data}",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            check=True,
            capture_output=True,
        )
        self._start(
            "mariadbd",
            "mariadbd",
            "--no-defaults",
            f"--datadir={data}",
            "--bind-address=127.0.0.1",
            f"--port={self._ports[3]}",
            f"--socket={place}",
            f"--pid-file={data}/pid",
            "--innodb-buffer-pool-size=64M",
            "--innodb-lock-wait-timeout=900",
            user="mysql",
        )
        self.wait(place.exists, "MariaDB")
        made = (
            "create user slurm@'127.0.0.1' identified by 'lab';"
            "create database slurm_acct;"
            "grant all on slurm_acct.* to slurm@'127.0.0.1';"
        )
        self.run("mariadb", "-uroot", f"--socket={place}", "-e", made)
        self._write_dbd()
        self.start_accounting_daemon()
        self.wait(self._has_cluster, "slurmdbd")

    def _write_dbd(self) -> None:
        lines = [
            "AuthType=auth/munge",
            f"AuthInfo=socket={self._munge}/socket",
            "AuthAltTypes=auth/jwt",
            f"AuthAltParameters=jwt_key={self._jwt}",
            f"DbdHost={socket.gethostname()}",
            "DbdAddr=127.0.0.1",
            f"DbdPort={self._ports[2]}",
            "SlurmUser=slurm",
            f"PidFile={self._state}/slurmdbd.pid",
            "StorageType=accounting_storage/mysql",
            "StorageHost=127.0.0.1",
            f"StoragePort={self._ports[3]}",
            "StorageUser=slurm",
            "StoragePass=lab",
            "StorageLoc=slurm_acct",
        ]
        path = self._folder / "slurmdbd.conf"
        path.write_text("\n".join(lines))
        path.chmod(0o600)
        shutil.chown(path, "slurm")

    def _has_cluster(self) -> bool:
        done = subprocess.run(
            self._inside("sacctmgr", "-i", "add", "cluster", CLUSTER),
            env=self._environment,
            capture_output=True,
            check=False,
        )
        said = done.stdout + done.stderr
        return done.returncode == 0 or b"already exists" in said

    def _start_rest(self) -> None:
        is_old = self._root is None
        plugins = "openapi/v0.0.38" if is_old else "openapi/slurmctld"
        if self._accounting:
            of_accounts = "dbv0.0.38" if is_old else "slurmdbd"
            plugins += f",openapi/{of_accounts}"
        self._start(
            "slurmrestd",
            "slurmrestd",
            "-a",
            "rest_auth/jwt",
            "-s",
            plugins,
            f"127.0.0.1:{self._ports[0]}",
            user="nobody",
        )

    def is_ready(self) -> bool:
        """Return whether all nodes are idle, and slurmrestd answers."""
        shown = self.run("sinfo", "-h", "-N", "-o", "%N %t")
        states = dict(line.split() for line in shown.splitlines())
        return {states.get(node) for node in self.nodes} == {"idle"} and (
            _listens(self._ports[0])
        )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0

"""Gangs of JobSet, Ray, MPI, Volcano, Spark and others."""

from collections.abc import Sequence
from typing import Any

from tests.corpus.blind8.fleet import JOBSETS, MANAGER, Fleet
from tests.corpus.writing.cluster import Made

__all__ = [
    "JobSet",
    "Volcano",
    "group_of",
    "kubeflow",
    "mpi",
    "ray",
    "ray_worker",
    "spark",
    "torch",
]

JOBS = "batch/v1/jobs"
SETS = "apps/v1/statefulsets"
LIMIT = "Job has reached the specified backoff limit"


class JobSet:
    """A JobSet of one Job, whose Pods fail and restart together."""

    def __init__(
        self,
        w: Fleet,
        name: str,
        *nodes: str,
        gpus: int = 8,
        owner: Made | None = None,
    ) -> None:
        self.w, self.name, self.gpus = w, name, gpus
        self.role = "node" if owner else "worker"
        self.attempt = 0
        template = {"backoffLimit": 0, "completions": len(nodes)}
        self.top = w.own(
            JOBSETS,
            "JobSet",
            f"train/{name}",
            by="trainer" if owner else "kubectl-create",
            owner=owner,
            spec={
                "failurePolicy": {
                    "maxRestarts": 9,
                    "restartStrategy": "Recreate",
                },
                "replicatedJobs": [
                    {
                        "groupName": "default",
                        "name": self.role,
                        "replicas": 1,
                        "template": {"spec": template},
                    }
                ],
                "successPolicy": {"operator": "All"},
                "suspend": False,
            },
        )
        self.child = self._child(len(nodes))
        self.run(*nodes)

    def run(self, *nodes: str) -> None:
        """Create Pods, which wait for a node where none is named."""
        w, child = self.w, self.child["metadata"]
        for index, node in enumerate(nodes):
            suffix = w.uid(child["uid"], index)[:5]
            label = "batch.kubernetes.io/"
            w.pod(
                f"{child['name']}-{index}-{suffix}",
                node,
                self.gpus,
                owner=self.child,
                by=MANAGER,
                created=(
                    "SuccessfulCreate",
                    "Created pod: {}",
                    "job-controller",
                ),
                labels={
                    f"{label}job-name": child["name"],
                    f"{label}job-completion-index": str(index),
                    "jobset.sigs.k8s.io/jobset-name": self.name,
                    "jobset.sigs.k8s.io/replicatedjob-name": self.role,
                    "jobset.sigs.k8s.io/restart-attempt": str(self.attempt),
                },
                finalizers=[f"{label}job-tracking"],
            )
        self.status(ready=int(all(nodes)))

    def fails(self, failed: Made, user: str = "") -> None:
        """Let its Job give up: the others have to stop."""
        w, job = self.w, self.child
        w._condition(
            job, "FailureTarget", "True", "BackoffLimitExceeded", LIMIT
        )
        w.put(JOBS, job, MANAGER, "status.conditions")
        others = [p for p in w.members(job) if p is not failed]
        w.stop(others, user)
        for pod in others:
            said = f"Deleted pod: {pod['metadata']['name']}"
            w.event(job, "SuccessfulDelete", said, "job-controller")
        w.ends(*others)

    def anew(self, *nodes: str) -> None:
        """Restart it, once all its Pods have ended."""
        w, job = self.w, self.child
        w.status(
            job,
            active=0,
            ready=0,
            failed=len(nodes),
            condition=("Failed", "BackoffLimitExceeded", LIMIT),
        )
        self.attempt += 1
        w.event(
            self.top,
            "RestartJobSetFailurePolicyAction",
            "applying RestartJobSet failure policy action (first failed job: "
            f"{job['metadata']['name']})",
            "jobset",
            kind="Warning",
        )
        self.status(ready=0)
        for pod in w.members(job):
            pod["metadata"].pop("finalizers", None)
            w.put("v1/pods", pod, MANAGER)
            w.gone("v1/pods", pod)
        w.gone(JOBS, job)
        w.wait(1)
        self.child = self._child(len(nodes))
        self.run(*nodes)

    def _child(self, size: int) -> Made:
        name = f"{self.name}-{self.role}-0"
        return self.w.own(
            JOBS,
            "Job",
            f"train/{name}",
            by="jobset",
            owner=self.top,
            life=self.attempt + 1,
            labels={"jobset.sigs.k8s.io/jobset-name": self.name},
            spec={
                "backoffLimit": 0,
                "completionMode": "Indexed",
                "completions": size,
                "parallelism": size,
                "suspend": False,
            },
            status={"active": size, "ready": size},
        )

    def status(self, ready: int) -> None:
        """Write whether its Job is ready."""
        shown = {
            "name": self.role,
            "active": 1,
            "ready": ready,
            "failed": 0,
            "succeeded": 0,
            "suspended": 0,
        }
        self.w.says(
            JOBSETS,
            self.top,
            "jobset",
            replicatedJobsStatus=[shown],
            restarts=self.attempt,
        )


def group_of(w: Fleet, top: Made, leaders: Made, index: int, *at: str) -> Made:
    """Create a group of a LeaderWorkerSet; return its leader.

    Its workers are of a StatefulSet that the leader owns.
    """
    name = top["metadata"]["name"]
    label = "leaderworkerset.sigs.k8s.io/"
    labels = {f"{label}name": name, f"{label}group-index": str(index)}
    leader = w.replica(
        leaders, at[0], 8, str(index), labels | {f"{label}worker-index": "0"}
    )
    workers = w.own(
        SETS,
        "StatefulSet",
        f"serve/{name}-{index}",
        by="lws",
        owner=leader,
        life=2
        if leader["metadata"]["uid"]
        != w.uid("Pod", "serve", leader["metadata"]["name"])
        else 1,
        spec={"replicas": len(at) - 1, "ordinals": {"start": 1}},
    )
    for number, node in enumerate(at[1:], 1):
        mine = labels | {f"{label}worker-index": str(number)}
        w.replica(workers, node, 8, str(number), mine)
    return leader


def kubeflow(
    w: Fleet, owner: Made, role: str, at: str, gpus: int, index: int = 0
) -> Made:
    """Create a Pod of a PyTorchJob."""
    name = owner["metadata"]["name"]
    label = "training.kubeflow.org/"
    return w.pod(
        f"{name}-{role}-{index}",
        at,
        gpus,
        owner=owner,
        by="training-operator",
        created=(
            "SuccessfulCreatePod",
            "Created pod: {}",
            "pytorchjob-controller",
        ),
        restart="OnFailure",
        labels={
            f"{label}job-name": name,
            f"{label}operator-name": "pytorchjob-controller",
            f"{label}replica-index": str(index),
            f"{label}replica-type": role,
        },
    )


def torch(w: Fleet, name: str, **spec: Any) -> Made:
    """Create a PyTorchJob."""
    return w.own(
        "kubeflow.org/v1/pytorchjobs",
        "PyTorchJob",
        f"train/{name}",
        spec={
            "pytorchReplicaSpecs": {
                role.capitalize(): {
                    "replicas": many,
                    "restartPolicy": "OnFailure",
                }
                for role, many in spec.pop("roles").items()
            },
            "runPolicy": {"cleanPodPolicy": "None"},
            **spec,
        },
        status={
            "conditions": [
                {
                    "type": "Running",
                    "status": "True",
                    "reason": "PyTorchJobRunning",
                    "message": f"PyTorchJob {name} is running.",
                    "lastUpdateTime": w.at(),
                    "lastTransitionTime": w.at(),
                }
            ]
        },
    )


def ray(
    w: Fleet, title: str, *workers: str, owner: Made | None = None
) -> Made:
    """Create a RayCluster: its head on n3, workers of 8 or 4 GPUs."""
    name = title.split("/")[1]
    group = {
        "groupName": "gpu",
        "replicas": len(workers),
        "minReplicas": len(workers),
        "maxReplicas": len(workers),
        "numOfHosts": 1,
    }
    labels = (
        {
            "ray.io/originated-from-cr-name": owner["metadata"]["name"],
            "ray.io/originated-from-crd": "RayJob",
        }
        if owner
        else {}
    )
    cluster = w.own(
        "ray.io/v1/rayclusters",
        "RayCluster",
        title,
        by="kuberay-operator" if owner else "kubectl-create",
        owner=owner,
        labels=labels,
        spec={"headGroupSpec": {}, "workerGroupSpecs": [group]},
        status={"state": "ready", "desiredWorkerReplicas": len(workers)},
    )
    head = f"{name}-head-{w.uid(name)[:5]}"
    _ray_pod(w, cluster, head, "n3", 0, "head")
    for node in workers:
        ray_worker(w, cluster, node, 4 if owner else 8)
    return cluster


def ray_worker(w: Fleet, cluster: Made, node: str, gpus: int) -> Made:
    """Create a worker of a RayCluster."""
    name = cluster["metadata"]["name"]
    suffix = w.uid(name, len(w.frames), len(w.members(cluster)))[:5]
    return _ray_pod(
        w, cluster, f"{name}-gpu-worker-{suffix}", node, gpus, "worker"
    )


def _ray_pod(
    w: Fleet, cluster: Made, name: str, node: str, gpus: int, kind: str
) -> Made:
    title, space = (
        cluster["metadata"]["name"],
        cluster["metadata"]["namespace"],
    )
    return w.pod(
        name,
        node,
        gpus,
        owner=cluster,
        by="kuberay-operator",
        created=(
            f"Created{kind.capitalize()}Pod",
            f"Created {kind} Pod {space}/{{}}",
            "raycluster-controller",
        ),
        space=space,
        restart="Always",
        labels={
            "app.kubernetes.io/created-by": "kuberay-operator",
            "app.kubernetes.io/name": "kuberay",
            "ray.io/cluster": title,
            "ray.io/group": "headgroup" if kind == "head" else "gpu",
            "ray.io/is-ray-node": "yes",
            "ray.io/node-type": kind,
        },
    )


def mpi(
    w: Fleet, title: str, launcher: str, *workers: str
) -> tuple[Made, Made]:
    """Create an MPIJob; return it, and the Job of its launcher."""
    space, name = title.split("/")
    top = w.own(
        "kubeflow.org/v2beta1/mpijobs",
        "MPIJob",
        title,
        spec={
            "launcherCreationPolicy": "AtStartup",
            "mpiReplicaSpecs": {
                "Launcher": {"replicas": 1, "restartPolicy": "Never"},
                "Worker": {"replicas": len(workers), "restartPolicy": "Never"},
            },
            "runPolicy": {"backoffLimit": 0, "cleanPodPolicy": "Running"},
            "slotsPerWorker": 8,
        },
    )
    label = "training.kubeflow.org/"
    labels = {
        f"{label}job-name": name,
        f"{label}operator-name": "mpi-operator",
    }
    for index, node in enumerate(workers):
        w.pod(
            f"{name}-worker-{index}",
            node,
            8,
            owner=top,
            by="mpi-operator",
            space=space,
            labels=labels
            | {
                f"{label}job-role": "worker",
                f"{label}replica-index": str(index),
            },
        )
    job = w.own(
        JOBS,
        "Job",
        f"{space}/{name}-launcher",
        by="mpi-operator",
        owner=top,
        labels=labels,
        spec={"backoffLimit": 0, "completions": 1, "parallelism": 1},
        status={"active": 1, "ready": 1},
    )
    w.pod(
        f"{name}-launcher-6sjf5",
        launcher,
        0,
        owner=job,
        by=MANAGER,
        created=("SuccessfulCreate", "Created pod: {}", "job-controller"),
        space=space,
        labels=labels | {f"{label}job-role": "launcher"},
        finalizers=["batch.kubernetes.io/job-tracking"],
    )
    said = f"MPIJob {title} is running."
    w.says(
        "kubeflow.org/v2beta1/mpijobs",
        top,
        "mpi-operator",
        condition=("Running", "True", "MPIJobRunning", said),
    )
    return top, job


class Volcano:
    """A Job of Volcano, which its policy restarts as a whole."""

    JOBS = "batch.volcano.sh/v1alpha1/jobs"
    GROUPS = "scheduling.volcano.sh/v1beta1/podgroups"

    def __init__(self, w: Fleet, name: str, gpus: int, *nodes: str) -> None:
        self.w, self.name, self.gpus, self.nodes = w, name, gpus, nodes
        many = len(nodes)
        self.top = w.own(
            self.JOBS,
            "Job",
            f"ml/{name}",
            spec={
                "minAvailable": many,
                "schedulerName": "volcano",
                "queue": "default",
                "maxRetry": 3,
                "policies": [
                    {"action": "RestartJob", "events": ["PodEvicted"]},
                    {"action": "RestartJob", "events": ["PodFailed"]},
                ],
                "tasks": [{"name": "worker", "replicas": many}],
            },
            status={
                "minAvailable": many,
                "state": {"phase": "Running"},
                "running": many,
                "version": 1,
            },
        )
        group = w.own(
            self.GROUPS,
            "PodGroup",
            f"ml/{name}-{self.top['metadata']['uid']}",
            by="vc-controller-manager",
            owner=self.top,
            spec={"minMember": many, "queue": "default"},
            status={"phase": "Running", "running": many},
        )
        self.group = group["metadata"]["name"]
        self.run()

    def run(self) -> None:
        """Create its Pods, always under the same names."""
        label = "volcano.sh/"
        for index, node in enumerate(self.nodes):
            self.w.pod(
                f"{self.name}-worker-{index}",
                node,
                self.gpus,
                owner=self.top,
                by="vc-controller-manager",
                space="ml",
                scheduler="volcano",
                labels={
                    f"{label}job-name": self.name,
                    f"{label}job-namespace": "ml",
                    f"{label}queue-name": "default",
                    f"{label}task-index": str(index),
                    f"{label}task-spec": "worker",
                },
                annotations={
                    "scheduling.k8s.io/group-name": self.group,
                    f"{label}job-version": str(self.top["status"]["version"]),
                    f"{label}task-spec": "worker",
                },
            )

    def restart(self) -> None:
        """Stop what still runs, and create all Pods again."""
        w = self.w
        by = "vc-controller-manager"
        w.event(
            self.top,
            "ExecuteAction",
            "Start to execute action RestartJob ",
            by,
            kind="Normal",
        )
        self._phase("Restarting", running=0)
        all_ = w.members(self.top)
        running = [p for p in all_ if p["status"]["phase"] == "Running"]
        w.stop(all_)
        w.ends(*running)
        for pod in all_:
            if pod not in running:
                w.gone("v1/pods", pod)
        version = self.top["status"]["version"] + 1
        self._phase("Pending", version=version, retryCount=version - 1)
        self.run()
        self._phase("Running", running=len(self.nodes))

    def _phase(self, phase: str, **more: int) -> None:
        state = {"phase": phase, "lastTransitionTime": self.w.at()}
        by = "vc-controller-manager"
        self.w.says(self.JOBS, self.top, by, state=state, **more)


def spark(w: Fleet, top: Made, run: int, at: Sequence[str]) -> Made:
    """Create the driver of an application, which owns its executors."""
    name, space = top["metadata"]["name"], top["metadata"]["namespace"]
    tag = w.uid("spark", run).replace("-", "")
    labels = {
        "spark-app-name": name,
        "spark-app-selector": f"spark-{tag}",
        "sparkoperator.k8s.io/app-name": name,
        "sparkoperator.k8s.io/launched-by-spark-operator": "true",
    }
    driver = w.pod(
        f"{name}-driver",
        at[0],
        0,
        owner=top,
        by="spark-submit",
        space=space,
        labels=labels | {"spark-role": "driver"},
    )
    for number, node in enumerate(at[1:], 1):
        w.pod(
            f"{name}-{tag[:16]}-exec-{number}",
            node,
            4,
            owner=driver,
            by="fabric8-kubernetes-client",
            space=space,
            labels=labels
            | {"spark-role": "executor", "spark-exec-id": str(number)},
        )
    w.event(
        top,
        "SparkDriverRunning",
        f"Driver {name}-driver is running",
        "spark-application-controller",
    )
    return driver

"""Stories of gangs: one dies with its node, and what becomes of the others."""

from tests.corpus.blind8.fleet import GC, MANAGER, SYSTEM, Fleet
from tests.corpus.blind8.owners import (
    JobSet,
    Volcano,
    group_of,
    kubeflow,
    mpi,
    ray,
    ray_worker,
    spark,
    torch,
)
from tests.corpus.writing.cluster import NODES, PODS, Made

CHOIR = "choir.acme.example/v1/choirs"
WEAVE = "batch.loom.example/v1alpha1/weaves"
CONVOY = "harbor.quay9.example/v1beta2/convoys"
STEWARD = "system:serviceaccount:harbor:convoy-steward"
PYTORCH = "kubeflow.org/v1/pytorchjobs"
MPI = "kubeflow.org/v2beta1/mpijobs"
GROUPS = "leaderworkerset.x-k8s.io/v1/leaderworkersets"
LIMIT = "Job has reached the specified backoff limit"


def goes_back(w: Fleet, job: Made, node: str) -> None:
    """Create the Pod of a Job again."""
    w.status(job, active=1, ready=0, failed=1)
    w.wait(10)
    w.run(job, node)
    w.status(job, ready=1)


def boots(w: Fleet, node: Made, job: Made) -> None:
    """Boot within the tolerance: the container is lost with its machine."""
    pod = w.only(job)
    w.boot(node)
    w.exits(pod, 255, "Unknown")
    pod["metadata"].pop("finalizers")
    w.put(PODS, pod, MANAGER)
    goes_back(w, job, node["metadata"]["name"])


def k01(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    gang = JobSet(w, "llm", "n1", "n2")
    w.start()
    (pod,) = w.crash(n1)
    w.wait(300)
    w.taken(pod)
    w.wait(0.3)
    gang.fails(pod)
    w.wait(45)
    w.boot(n1)
    w.ends(pod, code=255, reason="Unknown")
    gang.anew("n1", "n2")


def k02(w: Fleet) -> None:
    n1, _, _, _ = w.nodes("n1", "n2", "n3", "n4")
    top = w.own(
        GROUPS,
        "LeaderWorkerSet",
        "serve/moe",
        spec={
            "replicas": 2,
            "leaderWorkerTemplate": {
                "size": 2,
                "restartPolicy": "RecreateGroupOnPodRestart",
            },
        },
        status={"replicas": 2, "readyReplicas": 2},
    )
    leaders = w.set_of("StatefulSet", "serve/moe", top, replicas=2)
    leader = group_of(w, top, leaders, 0, "n2", "n1")
    group_of(w, top, leaders, 1, "n3", "n4")
    w.start()
    (pod,) = w.crash(n1)
    w.wait(300)
    w.taken(pod)
    w.wait(0.3)
    said = "Worker pod moe-0-1 failed, deleted leader pod moe-0 to recreate"
    w.event(top, "RecreateGroupOnPodRestart", f"{said} group 0", "lws")
    leader["metadata"]["finalizers"] = ["foregroundDeletion"]
    w.stop([leader])
    w.says(GROUPS, top, "lws", readyReplicas=1)
    w.wait(3)
    w.exits(leader, 143)
    w.wait(60)
    w.boot(n1)
    w.ends(pod, code=255, reason="Unknown")
    (workers,) = (
        s
        for s in w.there["apps/v1/statefulsets"].values()
        if s["metadata"]["name"] == "moe-0"
    )
    w.gone("apps/v1/statefulsets", workers)
    w.gone(PODS, leader)
    group_of(w, top, leaders, 0, "n2", "n1")
    w.says(GROUPS, top, "lws", readyReplicas=2)


def k03(w: Fleet) -> None:
    w.nodes("n1", "n3")
    n2 = w.node("n2", 16)
    top = torch(
        w,
        "dlrm",
        roles={"worker": 3},
        elasticPolicy={
            "minReplicas": 1,
            "maxReplicas": 3,
            "rdzvBackend": "c10d",
        },
    )
    for index, node in enumerate(("n1", "n2", "n3")):
        kubeflow(w, top, "worker", node, 4, index)
    w.start()
    (pod,) = w.crash(n2)
    w.wait(300)
    w.taken(pod)
    w.says(
        PYTORCH,
        top,
        "training-operator",
        replicaStatuses={"Worker": {"active": 2}},
    )
    w.wait(60)


def k04(w: Fleet) -> None:
    n1, _, _, _ = w.nodes("n1", "n2", "n3", "n4")
    cluster = ray(w, "ml/sweep", "n1", "n2")
    w.start()
    (pod,) = w.crash(n1)
    w.says(
        "ray.io/v1/rayclusters",
        cluster,
        "kuberay-operator",
        readyWorkerReplicas=1,
    )
    w.wait(300)
    w.taken(pod)
    w.wait(70)
    w.boot(n1)
    w.ends(pod, code=255, reason="Unknown")
    ray_worker(w, cluster, "n4", 8)
    w.says(
        "ray.io/v1/rayclusters",
        cluster,
        "kuberay-operator",
        readyWorkerReplicas=2,
    )


def k05(w: Fleet) -> None:
    _, n2, _ = w.nodes("n1", "n2", "n3")
    b = w.job("b", "n2")
    top, launcher = mpi(w, "hpc/gromacs", "n1", "n2", "n3")
    w.start()
    pod = w.only(launcher)
    w.exits(pod, 1)
    w.status(
        launcher,
        active=0,
        ready=0,
        failed=1,
        condition=("Failed", "BackoffLimitExceeded", LIMIT),
    )
    said = "Job has reached the specified backoff limit: BackoffLimitExceeded"
    w.event(top, "MPIJobFailed", said, "mpi-job-controller", kind="Warning")
    w.says(
        MPI,
        top,
        "mpi-operator",
        condition=("Failed", "True", "BackoffLimitExceeded", said),
        completionTime=w.at(),
    )
    first, second = w.members(top)
    w.stop([first, second])
    w.ends(second)
    w.wait(0.5)
    w.crash(n2)
    w.wait(40)
    pod = w.only(b)
    w.boot(n2)
    w.ends(first, code=255, reason="Unknown")
    w.exits(pod, 255, "Unknown")
    pod["metadata"].pop("finalizers")
    w.put(PODS, pod, MANAGER)
    goes_back(w, b, "n2")


def k06(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    resnet = Volcano(w, "resnet", 8, "n1", "n2")
    vit = Volcano(w, "vit", 4, "n1", "n2", "n3")
    Volcano(w, "alone", 4, "n3")
    w.start()
    lost = w.crash(n1)
    w.wait(40)
    w.boot(n1)
    for pod in lost:
        w.exits(pod, 255, "Unknown")
    resnet.restart()
    vit.restart()


def k07(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    top = w.own(
        "sparkoperator.k8s.io/v1beta2/sparkapplications",
        "SparkApplication",
        "etl/nightly",
    )
    driver = spark(w, top, 1, ("n1", "n2", "n3"))
    w.start()
    w.did("drain", "lea drains n1")
    w.cordon(n1, "lea")
    executors = w.members(driver)
    w.audited("lea", "create", driver, _eviction(driver), sub="eviction")
    w.disrupt(
        driver,
        "EvictionByEvictionAPI",
        "Eviction API: evicting",
        "kube-apiserver",
    )
    w.stop([driver])
    w.ends(driver)
    w.event(
        top,
        "SparkDriverFailed",
        "Driver nightly-driver failed",
        "spark-application-controller",
        kind="Warning",
    )
    w.collected(executors)
    w.ends(*executors)
    w.event(
        top,
        "SparkApplicationPendingRerun",
        "SparkApplication nightly is pending rerun",
        "spark-application-controller",
        kind="Warning",
    )
    w.wait(10)
    spark(w, top, 2, ("n2", "n2", "n3"))


def k09(w: Fleet) -> None:
    n1, _, _, _ = w.nodes("n1", "n2", "n3", "n4")
    top = w.own(CHOIR, "Choir", "train/chorale")
    _singers(w, top, 1, "n1", "n2", "n3")
    w.start()
    w.dies(n1)
    w.wait(15)
    by = "choir-conductor"
    w.event(
        top,
        "SingerLost",
        "singer chorale-g1-0 sent no heartbeat for 15s",
        by,
        kind="Warning",
    )
    w.event(top, "Recast", "recasting all 3 singers as g2", by)
    for pod in w.members(top):
        w.gone(PODS, pod)
    _singers(w, top, 2, "n4", "n2", "n3")
    w.wait(30)
    w.given_up(n1)
    w.wait(60)


def _singers(w: Fleet, top: Made, cast: int, *nodes: str) -> None:
    for index, node in enumerate(nodes):
        w.pod(
            f"chorale-g{cast}-{index}",
            node,
            8,
            owner=top,
            by="choir-conductor",
            labels={"choir.acme.example/cast": f"g{cast}"},
        )


def k10(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    b = w.job("b", "n1")
    old = w.own(WEAVE, "Weave", "ml/weave")
    _threads(w, old, "n1", "n3")
    w.start()
    w.did("delete", "pete deletes ml/weave")
    pods = w.members(old)
    w.audited("pete", "delete", old, plural="weaves")
    w.collected(pods)
    w.ends(*pods)
    w.wait(4)
    new = w.own(WEAVE, "Weave", "ml/weave", life=2)
    w.did("create", "pete creates ml/weave again")
    w.audited("pete", "create", new, plural="weaves")
    _threads(w, new, "n2", "n3")
    w.wait(30)
    w.crash(n1)
    w.wait(40)
    boots(w, n1, b)


def _threads(w: Fleet, top: Made, *nodes: str) -> None:
    for index, node in enumerate(nodes):
        w.pod(
            f"weave-{index}",
            node,
            8,
            owner=top,
            by="loom",
            space="ml",
            created=("Threaded", "thread {} is on the loom", "loom"),
            labels={"loom.example/weave": "weave"},
        )


def k16(w: Fleet) -> None:
    n1, _ = w.nodes("n1", "n2")
    top = w.own(
        "trainer.kubeflow.org/v1alpha1/trainjobs",
        "TrainJob",
        "train/ft",
        spec={"runtimeRef": {"name": "torch"}, "trainer": {"numNodes": 2}},
        status={"jobsStatus": [{"name": "node", "active": 1, "ready": 1}]},
    )
    gang = JobSet(w, "ft", "n1", "n2", owner=top)
    w.start()
    (pod,) = w.crash(n1)
    w.wait(40)
    n1["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    w.boot(n1)
    said = (
        "Pod was rejected: Allocate failed due to requested number of devices "
        "unavailable for nvidia.com/gpu. Requested: 8, Available: 0, which is "
        "unexpected"
    )
    pod["status"] |= {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": said,
    }
    w.put(PODS, pod, "kubelet", "status.phase")
    w.event(
        pod,
        "UnexpectedAdmissionError",
        said,
        "kubelet",
        host="n1",
        kind="Warning",
    )
    gang.fails(pod)
    w.wait(4)
    n1["status"]["allocatable"]["nvidia.com/gpu"] = "16"
    w.put(NODES, n1, "kubelet", "status.allocatable")
    gang.anew("n1", "n2")


def k17(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    top = w.own(
        "ray.io/v1/rayjobs",
        "RayJob",
        "ml/tune",
        spec={
            "entrypoint": "python tune.py",
            "shutdownAfterJobFinishes": True,
        },
        status={
            "jobStatus": "RUNNING",
            "jobDeploymentStatus": "Running",
            "rayClusterName": "tune-t7844",
            "startTime": w.at(),
        },
    )
    cluster = ray(w, "ml/tune-t7844", "n1", "n2", owner=top)
    w.start()
    w.wait(20)
    w.did("blind", "nothing is recorded")
    w.wait(10)
    (pod,) = w.crash(n1)
    w.wait(300)
    w.taken(pod)
    w.wait(30)
    w.boot(n1)
    w.ends(pod, code=255, reason="Unknown")
    ray_worker(w, cluster, "n2", 4)
    w.wait(20)
    w.did("seen", "everything is listed again")
    w.wait(20)


def k19(w: Fleet) -> None:
    w.nodes("n1", "n2")
    low = w.job("low", "n1", 8, pods=2)
    w.run(low, "n2", 8, index=1)
    w.start()
    victims = w.members(low)
    urgent = JobSet(w, "urgent", "", "", gpus=16)
    wanted = w.members(urgent.child)
    said = "default-scheduler: preempting to accommodate a higher priority pod"
    for pod, for_ in zip(victims, wanted, strict=True):
        node = pod["spec"]["nodeName"]
        w.disrupt(pod, "PreemptionByScheduler", said, "kube-scheduler")
        w.event(
            pod,
            "Preempted",
            f"Preempted by pod {for_['metadata']['uid']} on node {node}",
            "default-scheduler",
        )
        w.stop([pod])
    w.status(low, active=2, ready=0, failed=2)
    for index in (0, 1):
        w.run(low, "", 8, index=index)
    w.ends(*victims)
    for pod, node in zip(wanted, ("n1", "n2"), strict=True):
        w.place(pod, node)
    urgent.status(ready=1)
    w.wait(30)


def k20(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    top = w.own(CONVOY, "Convoy", "ml/queue")
    for index, node in enumerate(("n1", "n2", "n3")):
        w.pod(
            f"queue-{index}",
            node,
            4,
            owner=top,
            by="convoy-steward",
            space="ml",
            restart="Always",
            labels={"harbor.quay9.example/convoy": "queue"},
        )
    w.start()
    w.cordon(n1, "ben")
    w.wait(6)
    w.event(
        top,
        "ScaledIn",
        "queue depth is 2: from 3 to 2 trucks, removing queue-0",
        "convoy-steward",
    )
    pod = w.members(top)[0]
    w.stop([pod], STEWARD, agent="steward/v0.9.1")
    w.ends(pod)
    w.wait(30)


def k21(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    top = torch(w, "clip", roles={"master": 1, "worker": 1})
    master = kubeflow(w, top, "master", "n2", 8)
    worker = kubeflow(w, top, "worker", "n1", 8)
    w.start()
    w.wait(10)
    w.did("delete", "vera deletes the Node n1")
    w.alive.discard("n1")
    w.audit(
        "vera",
        "delete",
        "/api/v1/nodes/n1",
        {"resource": "nodes", "name": "n1"},
    )
    w.gone(NODES, n1)
    w.forgets("n1")
    w.event(
        n1,
        "RemovingNode",
        "Node n1 event: Removing Node n1 from Controller",
        "node-controller",
    )
    w.wait(45)
    w.disrupt(worker, "DeletionByPodGC", "PodGC: node no longer exists")
    worker["status"]["phase"] = "Failed"
    w.put(PODS, worker, MANAGER, "status.phase")
    w.audited(
        f"{SYSTEM}pod-garbage-collector",
        "delete",
        worker,
        {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0},
    )
    w.gone(PODS, worker)
    kubeflow(w, top, "worker", "n3", 8)
    w.wait(20)
    w.restarts(master, 1, "Error")
    w.wait(20)


def k23(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    gang = JobSet(w, "moe", "n1", "n2")
    w.start()
    w.cordon(n1, "kai")
    w.wait(8)
    _, pod = w.members(gang.child)
    w.exits(pod, 137, "OOMKilled")
    gang.fails(pod, f"{SYSTEM}job-controller")
    gang.anew("n3", "n2")
    w.wait(20)


def _eviction(pod: Made) -> Made:
    meta = pod["metadata"]
    return {
        "kind": "Eviction",
        "apiVersion": "policy/v1",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
    }


__all__ = ["GC", "STORIES", "boots", "goes_back"]

STORIES = (
    k01,
    k02,
    k03,
    k04,
    k05,
    k06,
    k07,
    k09,
    k10,
    k16,
    k17,
    k19,
    k20,
    k21,
    k23,
)

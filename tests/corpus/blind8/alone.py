"""Stories of workloads whose Pods need no other."""

from tests.corpus.blind8.fleet import MANAGER, SLICES, Fleet
from tests.corpus.blind8.gangs import goes_back
from tests.corpus.writing.cluster import PODS, Made

__all__ = ["STORIES"]

LIMIT = "Job has reached the specified backoff limit"
DRIVER = "gpu.nvidia.com"


def k08(w: Fleet) -> None:
    n1, _ = w.nodes("n1", "n2")
    top = w.own("argoproj.io/v1alpha1/workflows", "Workflow", "ml/eval-x7d")
    w.job("b", "n1")
    first = _step(w, top, "prepare-1866", "n2", 0)
    w.exits(first, 0)
    pod = _step(w, top, "train-2204", "n1", 4)
    w.start()
    w.event(
        n1,
        "EvictionThresholdMet",
        "Attempting to reclaim ephemeral-storage",
        "kubelet",
        host="n1",
        kind="Warning",
    )
    w.evicted(pod, "The node was low on resource: ephemeral-storage. ")
    w.wait(0.5)
    w.pressed(n1, 1, "KubeletHasDiskPressure")
    w.event(
        top,
        "WorkflowNodeFailed",
        "Failed node eval-x7d.train(0): The node was low on resource: "
        "ephemeral-storage.",
        "workflow-controller",
        kind="Warning",
    )
    w.wait(20)
    _step(w, top, "train-9017", "n2", 4)
    w.wait(20)


def _step(w: Fleet, top: Made, name: str, node: str, gpus: int) -> Made:
    return w.pod(
        f"eval-x7d-{name}",
        node,
        gpus,
        owner=top,
        by="workflow-controller",
        space="ml",
        labels={
            "workflows.argoproj.io/completed": "false",
            "workflows.argoproj.io/workflow": "eval-x7d",
        },
        annotations={
            "workflows.argoproj.io/node-id": f"eval-x7d-{name}",
            "workflows.argoproj.io/node-name": f"eval-x7d.{name[:-5]}(0)",
        },
    )


def k11(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    top = w.set_of("StatefulSet", "db/vec", replicas=2)
    w.replica(top, "n1", 2, "0")
    w.replica(top, "n2", 2, "1")
    w.start()
    (pod,) = w.crash(n1)
    w.wait(300)
    w.taken(pod)
    w.wait(40)
    w.did("force", "rosa deletes db/vec-0 by force")
    w.audited(
        "rosa",
        "delete",
        pod,
        {"kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0},
    )
    w.gone(PODS, pod)
    w.replica(top, "n3", 2, "0")
    w.wait(20)


def k12(w: Fleet) -> None:
    n1, _ = w.nodes("n1", "n2")
    top = w.set_of("Deployment", "web/chat", replicas=3)
    for suffix, node in (("x2k4p", "n1"), ("m8v7q", "n1"), ("t5d9z", "n2")):
        w.replica(top, node, 2, suffix)
    w.start()
    w.wait(15)
    w.dies(n1, "cut", "the network is lost")
    w.wait(52)
    w.given_up(n1)
    w.wait(68)
    w.returns(n1)
    w.wait(30)


def k13(w: Fleet) -> None:
    (n1,) = w.nodes("n1")
    a = w.job("a", "")
    pod = w.run(a, "", 4)
    pod["spec"]["restartPolicy"] = "OnFailure"
    w.place(pod, "n1")
    probes = w.set_of("DaemonSet", "ops/probe")
    probe = w.replica(probes, "n1", 0, "7fkq2")
    w.start()
    w.crash(n1)
    w.wait(40)
    w.boot(n1)
    w.restarts(pod, 255, "Unknown")
    w.status(a, ready=1)
    probe["status"] |= {
        "phase": "Pending",
        "initContainerStatuses": [
            {
                "name": "wait-for-driver",
                "ready": False,
                "restartCount": 2,
                "image": "registry.example/probe:1",
                "imageID": "registry.example/probe:1",
                "state": {"waiting": {"reason": "CrashLoopBackOff"}},
                "lastState": {
                    "terminated": {
                        "exitCode": 1,
                        "reason": "Error",
                        "startedAt": w.at(),
                        "finishedAt": w.at(),
                    }
                },
            }
        ],
    }
    w._condition(probe, "Initialized", "False", "ContainersNotInitialized")
    w._condition(probe, "Ready", "False", "ContainersNotReady")
    w.put(PODS, probe, "kubelet", "status.phase")
    w.event(
        probe,
        "BackOff",
        "Back-off restarting failed container wait-for-driver",
        "kubelet",
        host="n1",
        kind="Warning",
    )
    w.wait(20)


def k14(w: Fleet) -> None:
    n1, _ = w.nodes("n1", "n2")
    a = w.job("a", "n1")
    top = w.set_of("Deployment", "web/chat", replicas=2)
    chat = [w.replica(top, "n1", 2, suffix) for suffix in ("x2k4p", "m8v7q")]
    w.own(
        "policy/v1/poddisruptionbudgets",
        "PodDisruptionBudget",
        "web/chat",
        spec={"minAvailable": 2, "selector": {"matchLabels": {"app": "chat"}}},
        status={"disruptionsAllowed": 0, "desiredHealthy": 2},
    )
    w.start()
    w.did("drain", "mia drains n1")
    w.cordon(n1, "mia")
    job_pod = w.only(a)
    for pod in chat:
        w.refused("mia", pod)
    w.evict(job_pod, "mia")
    goes_back(w, a, "n2")
    for _ in range(4):
        w.wait(5)
        for pod in chat:
            w.refused("mia", pod)
    w.wait(20)
    w.did("given-up", "mia gives up")
    w.cordon(n1, "mia", back=True)
    w.wait(30)


def k15(w: Fleet) -> None:
    w.nodes("n1", "n2")
    device: list[Made] = [
        {"name": f"gpu-{index}", "attributes": {"type": {"string": "gpu"}}}
        for index in range(8)
    ]
    pool: Made = {"name": "n1", "generation": 1, "resourceSliceCount": 1}
    made = w._object("resource.k8s.io/v1", "ResourceSlice", None, "n1-gpu-xk2")
    made["spec"] = {
        "driver": DRIVER,
        "nodeName": "n1",
        "pool": pool,
        "devices": device,
    }
    w.put(SLICES, made, "gpu-kubelet-plugin", "spec.devices")
    a = w.job("a", "n1")
    w.job("b", "n1")
    pod = w.only(a)
    for one in w.there[PODS].values():
        one["status"]["extendedResourceClaimStatus"] = {
            "resourceClaimName": f"{one['metadata']['name']}-extended",
            "requestMappings": [
                {
                    "containerName": "main",
                    "resourceName": "nvidia.com/gpu",
                    "requestName": "container-0-request-0",
                }
            ],
        }
    w.start()
    device[3]["taints"] = [
        {
            "key": f"{DRIVER}/unhealthy",
            "value": "true",
            "effect": "NoExecute",
            "timeAdded": w.at(),
        }
    ]
    pool["generation"] = 2
    w.put(SLICES, made, "gpu-kubelet-plugin", "spec.devices")
    w.event(
        pod,
        "DeviceTaintManagerEviction",
        "Marking for deletion",
        "device-taint-eviction",
    )
    w.disrupt(
        pod,
        "DeletionByDeviceTaintManager",
        "Device Taint manager: deleting due to NoExecute taint",
    )
    w.stop([pod])
    w.ends(pod)
    goes_back(w, a, "n2")
    w.wait(20)


def k18(w: Fleet) -> None:
    n1, _, _ = w.nodes("n1", "n2", "n3")
    w.job("b", "n1")
    top = w.set_of("Deployment", "web/rank", replicas=3)
    pod = w.replica(top, "n1", 4, "x2k4p")
    w.replica(top, "n2", 4, "m8v7q")
    w.replica(top, "n3", 4, "t5d9z")
    w.start()
    w.wait(20)
    w.did("blind", "nothing is recorded")
    w.wait(10)
    w.did("evicted", "the kubelet of n1 evicts web/rank")
    w.evicted(pod, "The node was low on resource: memory. ")
    w.wait(0.5)
    w.pressed(n1, 0, "KubeletHasInsufficientMemory")
    w.wait(3)
    w.replica(top, "n2", 4, "q4w8n")
    w.wait(40)
    n1["status"]["conditions"][0] |= {
        "status": "False",
        "reason": "KubeletHasSufficientMemory",
        "lastTransitionTime": w.at(),
    }
    w.put("v1/nodes", n1, "kubelet", "status.conditions")
    w.wait(20)
    w.did("seen", "everything is listed again")
    w.wait(20)


def k22(w: Fleet) -> None:
    (n1,) = w.nodes("n1")
    w.job("b", "n1")
    a = w.job("a", "", backoffLimit=1)
    w.start()
    _fails_to_begin(w, w.run(a, "n1", 4, runs=False))
    w.status(a, active=1, ready=0, failed=1)
    w.wait(4)
    w.kubelet_starts(n1)
    w.wait(6)
    _fails_to_begin(w, w.run(a, "n1", 4, runs=False))
    w.status(
        a,
        active=0,
        ready=0,
        failed=2,
        condition=("Failed", "BackoffLimitExceeded", LIMIT),
    )
    w.wait(20)


def _fails_to_begin(w: Fleet, pod: Made) -> None:
    """Let the init container of a Pod exit, and with it the Pod."""
    began = w.at()
    w.wait(2)
    pod["status"] |= {
        "phase": "Failed",
        "startTime": began,
        "initContainerStatuses": [
            {
                "name": "fetch",
                "ready": False,
                "restartCount": 0,
                "image": "registry.example/fetch:2",
                "imageID": "registry.example/fetch:2",
                "lastState": {},
                "state": {
                    "terminated": {
                        "exitCode": 3,
                        "reason": "Error",
                        "startedAt": began,
                        "finishedAt": w.at(),
                    }
                },
            }
        ],
        "containerStatuses": [
            {
                "name": "main",
                "ready": False,
                "restartCount": 0,
                "image": "registry.example/train:3",
                "imageID": "",
                "lastState": {},
                "state": {"waiting": {"reason": "PodInitializing"}},
            }
        ],
    }
    w._condition(pod, "Initialized", "False", "ContainersNotInitialized")
    w._condition(pod, "Ready", "False", "PodFailed")
    w.put(PODS, pod, "kubelet", "status.phase")
    pod["metadata"].pop("finalizers")
    w.put(PODS, pod, MANAGER)


STORIES = (k08, k11, k12, k13, k14, k15, k18, k22)

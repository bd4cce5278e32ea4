"""Writes the seventh set: ``python -m tests.corpus.blind7.make``."""

from collections.abc import Callable
from pathlib import Path

from tests.corpus.blind7.truths import TRUTHS
from tests.corpus.writing.cluster import NODES, Made, Written
from tests.corpus.writing.files import write_all

LIMIT = (
    "Failed",
    "BackoffLimitExceeded",
    "Job has reached the specified backoff limit",
)


def _scene(w: Written, *nodes: str) -> list[Made]:
    return [w.node(name) for name in nodes]


def _pod(w: Written, job: Made) -> Made:
    (pod,) = [
        p
        for p in w.there["v1/pods"].values()
        if p["metadata"].get("ownerReferences", [{}])[0].get("uid")
        == job["metadata"]["uid"]
    ]
    return pod


def _back(w: Written, job: Made, node: str, gpus: int = 4) -> None:
    w.status(job, active=1, ready=0, failed=1)
    w.wait(10)
    w.run(job, node, gpus)
    w.status(job, ready=1)


def _boots(
    w: Written, node: Made, job: Made, where: str, gpus: int = 4
) -> None:
    """Boot within the tolerance: the container is lost with its machine."""
    pod = _pod(w, job)
    w.wait(40)
    w.boot(node)
    w.exits(pod, 255, "Unknown")
    pod["metadata"].pop("finalizers")
    w.put("v1/pods", pod, "kube-controller-manager")
    _back(w, job, where, gpus)


def _drain(
    w: Written, node: Made, user: str, *jobs: Made, to: str = "n2"
) -> None:
    w.did("drain", f"{user} drains {node['metadata']['name']}")
    w.cordon(node, user)
    for job in jobs:
        w.evict(_pod(w, job), user)
        _back(w, job, to)


def h01(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    a = w.job("a", "n1")
    w.start()
    (pod,) = w.crash(n1)
    w.wait(300)
    w.taken(pod)
    _back(w, a, "n2")
    w.wait(30)
    w.boot(n1)
    w.stopped(pod, 255)


def h02(w: Written) -> None:
    n1, _, _ = _scene(w, "n1", "n2", "n3")
    a = w.job("a", "n1")
    b = w.job("b", "n2", backoffLimit=0)
    w.start()
    w.cordon(n1, "mia")
    w.exits(_pod(w, b), 1)
    w.status(b, active=0, ready=0, failed=1, condition=LIMIT)
    w.evict(_pod(w, a), "mia")
    _back(w, a, "n3")


def h03(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    a = w.job("a", "n1")
    done = w.job("done", "n1", ttlSecondsAfterFinished=5)
    w.start()
    pod = _pod(w, done)
    w.exits(pod, 0)
    w.status(
        done,
        active=0,
        ready=0,
        succeeded=1,
        condition=("Complete", "Completed", "Job completed"),
    )
    w.wait(6)
    w.gone("batch/v1/jobs", done)
    w.gone("v1/pods", pod)
    w.wait(5)
    w.crash(n1)
    _boots(w, n1, a, "n1")


def h04(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    a = w.job("a", "n1")
    w.start()
    _drain(w, n1, "lea", a)
    w.wait(30)
    w.cordon(n1, "lea", back=True)
    w.wait(5)
    b = w.job("b", "n1")
    w.wait(60)
    w.did("later", "all is well")
    w.wait(60)
    w.crash(n1)
    _boots(w, n1, b, "n1")


def h05(w: Written) -> None:
    _scene(w, "n1")
    a = w.job("a", "n1")
    pod = _pod(w, a)
    pod["spec"]["restartPolicy"] = "OnFailure"
    w.start()
    one = pod["status"]["containerStatuses"][0]
    ended = {
        "exitCode": 137,
        "reason": "OOMKilled",
        "startedAt": pod["status"]["startTime"],
        "finishedAt": w.at(),
    }
    w.wait(2)
    one |= {
        "restartCount": 1,
        "lastState": {"terminated": ended},
        "state": {"running": {"startedAt": w.at()}},
    }
    w.put("v1/pods", pod, "kubelet", "status.containerStatuses")


def h06(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    a = w.job("a", "n1")
    w.job("b", "n1")
    w.start()
    n1["status"]["conditions"][0] |= {
        "status": "True",
        "reason": "KubeletHasInsufficientMemory",
        "lastTransitionTime": w.at(),
    }
    w.put(NODES, n1, "kubelet", "status.conditions")
    w.event(
        n1,
        "EvictionThresholdMet",
        "Attempting to reclaim memory",
        "kubelet",
        host="n1",
        kind="Warning",
    )
    pod = _pod(w, a)
    said = "The node was low on resource: memory. "
    w.event(pod, "Evicted", said, "kubelet", host="n1", kind="Warning")
    pod["status"] |= {"reason": "Evicted", "message": said}
    w.disrupt(pod, "TerminationByKubelet", said, "kubelet")
    w.exits(pod, 137)
    _back(w, a, "n2")


def h07(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    rule = {
        "action": "FailJob",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }
    a = w.job("a", "n1", podFailurePolicy={"rules": [rule]})
    w.start()
    (pod,) = w.crash(n1)
    w.wait(300)
    w.taken(pod)
    said = "Pod train/a-0 has condition DisruptionTarget matching FailJob rule"
    w.wait(30)
    w.boot(n1)
    w.stopped(pod, 255)
    w.status(
        a,
        active=0,
        ready=0,
        failed=1,
        condition=("Failed", "PodFailurePolicy", said),
    )


def h08(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    rule = {
        "action": "Ignore",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }
    a = w.job("a", "n1", backoffLimit=0, podFailurePolicy={"rules": [rule]})
    w.start()
    _drain(w, n1, "nils", a)


def h09(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    a = w.job("a", "n1", pods=2, backoffLimitPerIndex=0, maxFailedIndexes=1)
    w.run(a, "n2", index=1)
    w.start()
    (pod,) = w.crash(n1)
    w.wait(40)
    w.boot(n1)
    w.exits(pod, 255, "Unknown")
    w.status(a, active=1, ready=1, failed=1, failedIndexes="0")


def h10(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    a = w.job("a", "n1", activeDeadlineSeconds=60)
    w.start()
    w.wait(45)
    w.cordon(n1, "ola")
    w.wait(3)
    said = "Job was active longer than specified deadline"
    pod = _pod(w, a)
    w.delete(pod)
    w.status(a, condition=("FailureTarget", "DeadlineExceeded", said))
    w.stopped(pod)
    w.status(
        a,
        active=0,
        ready=0,
        failed=1,
        condition=("Failed", "DeadlineExceeded", said),
    )


def h11(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    a, b = w.job("a", "n1"), w.job("b", "n1")
    w.start()
    a["spec"]["suspend"] = True
    w.put("batch/v1/jobs", a, "kubectl-patch", "spec.suspend")
    pod = _pod(w, a)
    w.delete(pod)
    w.status(
        a,
        active=0,
        ready=0,
        condition=("Suspended", "JobSuspended", "Job suspended"),
    )
    w.stopped(pod)
    w.wait(20)
    w.crash(n1)
    _boots(w, n1, b, "n1")


def h12(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    low = w.job("low", "n1", 8)
    w.start()
    high = w.job("high", "", 8)
    pod = _pod(w, low)
    said = "default-scheduler: preempting to accommodate a higher priority pod"
    w.disrupt(pod, "PreemptionByScheduler", said, "kube-scheduler")
    w.event(
        pod,
        "Preempted",
        f"Preempted by pod {w.uid('high')} on node n1",
        "default-scheduler",
    )
    w.delete(pod)
    w.stopped(pod)
    w.status(low, active=1, ready=0, failed=1)
    w.run(high, "n1", 8)
    w.wait(20)
    w.crash(n1)
    _boots(w, n1, high, "n1", 8)


def h13(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    w.job("a", "n1")
    w.start()
    n1["status"]["allocatable"]["nvidia.com/gpu"] = "0"
    w.put(NODES, n1, "kubelet", "status.allocatable")
    b = w.job("b", "")
    pod = w.run(b, "n1", runs=False)
    said = (
        "Pod was rejected: Allocate failed due to no healthy devices "
        "present; cannot allocate unhealthy devices nvidia.com/gpu"
    )
    pod["status"] = {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": said,
        "startTime": w.at(),
    }
    w.put("v1/pods", pod, "kubelet", "status.phase")
    w.event(
        pod,
        "UnexpectedAdmissionError",
        said,
        "kubelet",
        host="n1",
        kind="Warning",
    )
    w.status(b, active=0, ready=0, failed=1)


def h14(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    pod = w.run(None, "n1", name="lone")
    w.start()
    w.cordon(n1, "pia")
    w.evict(pod, "pia")


def h15(w: Written) -> None:
    n1, _ = _scene(w, "n1", "n2")
    a, b = w.job("a", "n1", backoffLimit=0), w.job("b", "n1")
    w.start()
    w.exits(_pod(w, a), 2)
    w.status(a, active=0, ready=0, failed=1, condition=LIMIT)
    w.wait(10)
    _drain(w, n1, "ugo", b)


def h16(w: Written) -> None:
    (n1,) = _scene(w, "n1")
    w.job("a", "n1")
    b = w.job("b", "n1")
    w.start()
    w.wait(10)
    w.event(n1, "Starting", "Starting kubelet.", "kubelet", host="n1")
    w.put(NODES, n1, "kubelet", "status.conditions")
    w.wait(10)
    w.exits(_pod(w, b), 0)
    w.status(
        b,
        active=0,
        ready=0,
        succeeded=1,
        condition=("Complete", "Completed", "Job completed"),
    )


STORIES: dict[str, Callable[[Written], None]] = {
    f.__name__: f
    for f in (
        h01,
        h02,
        h03,
        h04,
        h05,
        h06,
        h07,
        h08,
        h09,
        h10,
        h11,
        h12,
        h13,
        h14,
        h15,
        h16,
    )
}


def main() -> None:
    """Write every tape and its truth."""
    write_all(Path(__file__).parent, TRUTHS.values(), Written, STORIES)


if __name__ == "__main__":
    main()

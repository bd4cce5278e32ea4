"""Stories of losses beside which something happens that did not cause them."""

from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import die_and_boot, owned_pod, power_cycle
from tests.corpus.blind.gangs import (
    custom,
    made_again,
    the_gang,
    the_jobset,
)
from tests.corpus.blind.stage import (
    BlindStage,
    story,
    wait_running,
    writer,
)
from tests.corpus.placing import a_job, pod_spec, the_job

__all__: list[str] = []

JOB = "batch.kubernetes.io/job-name"


def _apart(job: str) -> dict[str, object]:
    """Return the constraint that Pods of a Job are on different nodes."""
    return {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {JOB: job}},
    }


@story("c11_rufio_without_a_trace", "rf-1", "rf-2")
async def rufio(stage: BlindStage) -> None:
    """Power-cycle a machine over its BMC."""
    vqgan = await the_job(stage.api, "vqgan", 2, nodes=("rf-1", "rf-2"))
    async with stage.recording():
        await stage.pause(4)
        await power_cycle(stage, "rf-2")
        old = vqgan.on("rf-2")
        await wait_running(stage, "train", f"{JOB}=vqgan", 2, without=old)
        await stage.pause(4)


@story("c12_readiness_after_crash", "nr-1", "nr-2")
async def readiness(stage: BlindStage) -> None:
    """Taint a node that booted, until its network is ready."""
    await the_jobset(stage, "rwkv", 2, nodes=("nr-1", "nr-2"))
    name = "node-readiness-controller"
    user = f"system:serviceaccount:nrr-system:{name}"
    key = "readiness.k8s.io/network-ready"
    async with stage.recording(), writer(stage, name, user) as acting:
        await stage.crash("nr-2")
        await stage.is_unknown("nr-2")
        await stage.pause(8)
        await stage.boot("nr-2")
        stage.did("taint", f"{name} taints nr-2")
        await acting.taint("nr-2", key, "pending", "NoSchedule")
        await stage.ready("nr-2")
        await stage.pause(5)
        stage.did("untaint", f"{name} removes its taint")
        await acting.untaint("nr-2", key)
        selector = "jobset.sigs.k8s.io/jobset-name=rwkv"
        await wait_running(stage, "train", selector, 2)


@story("c13_nfd_then_crash", "nf-1", "nf-2", "nf-3")
async def nfd(stage: BlindStage) -> None:
    """Label and taint nodes; ten seconds later one dies."""
    owner = await custom(
        stage,
        "elastic.iml.github.io",
        "v1alpha1",
        "ElasticJob",
        "glm",
        distributionStrategy="AllreduceStrategy",
        replicaSpecs={"worker": {"replicas": 2}},
    )
    labels = {"elasticjob-name": "glm", "replica-type": "worker"}
    await the_gang(stage, owner, ("nf-1", "nf-2"), labels=labels)
    user = "system:serviceaccount:node-feature-discovery:nfd-master"
    dlrover = "system:serviceaccount:dlrover:dlrover-controller-manager"
    feature = "feature.node.kubernetes.io"
    taint = f"{feature}/training"
    async with (
        stage.recording(),
        writer(stage, "nfd-master", user) as acting,
        writer(stage, "manager", dlrover) as operator,
    ):
        stage.did("label", "nfd-master labels and taints all nodes")
        for node in ("nf-1", "nf-2", "nf-3"):
            await acting.mark(
                node,
                labels={f"{feature}/cpu-cpuid.AMXTILE": "true"},
                annotations={
                    "nfd.node.kubernetes.io/feature-labels": "cpu-cpuid"
                    ".AMXTILE",
                    "nfd.node.kubernetes.io/taints": f"{taint}=true"
                    ":PreferNoSchedule",
                },
            )
            await acting.taint(node, taint, "true", "PreferNoSchedule")
        await stage.pause(10)
        await die_and_boot(stage, "nf-2")
        await made_again(
            stage, operator, owner, "glm-worker-1", "nf-2", labels=labels
        )
        await stage.pause(3)


@story("c14_grove_cliques", "gv-1", "gv-2")
async def grove(stage: BlindStage) -> None:
    """Lose both Pods of a PodCliqueSet with one machine."""
    pods = {}
    cliques = {}
    top = await custom(
        stage,
        "grove.io",
        "v1alpha1",
        "PodCliqueSet",
        "deepseek",
        namespace="inference",
        replicas=1,
    )
    for role in ("prefill", "decode"):
        name = f"deepseek-0-{role}"
        cliques[role] = await custom(
            stage,
            "grove.io",
            "v1alpha1",
            "PodClique",
            name,
            namespace="inference",
            owner=top,
            replicas=1,
            minAvailable=1,
        )
        pods[role] = f"{name}-x7k2p"
        await owned_pod(
            stage,
            "inference",
            pods[role],
            cliques[role],
            labels={
                "app.kubernetes.io/part-of": "deepseek",
                "grove.io/podclique": name,
                "grove.io/podgang": "deepseek-0",
            },
            gpus=4,
            nodes=("gv-2",),
        )
    user = "system:serviceaccount:grove-system:grove-operator"
    async with stage.recording(), writer(stage, "manager", user) as operator:
        await stage.pause(3)
        await die_and_boot(stage, "gv-2")
        for role, pod in pods.items():
            path = f"/api/v1/namespaces/inference/pods/{pod}"
            await stage.is_gone(path)
            stage.did(f"again {role}", f"Grove creates a Pod of {role}")
            name = f"deepseek-0-{role}"
            await owned_pod(
                stage,
                "inference",
                f"{name}-m4d9q",
                cliques[role],
                api=operator.api,
                labels={
                    "app.kubernetes.io/part-of": "deepseek",
                    "grove.io/podclique": name,
                    "grove.io/podgang": "deepseek-0",
                },
                gpus=4,
                nodes=("gv-2",),
            )
        await stage.pause(3)


@story("c17_deadline_then_crash", "dl-1", "dl-2")
async def deadline(stage: BlindStage) -> None:
    """Let a Job reach its deadline; ten seconds later its machine dies."""
    await the_job(
        stage.api,
        "vae",
        2,
        gpus=4,
        nodes=("dl-1", "dl-2"),
        topologySpreadConstraints=[_apart("vae")],
    )
    jobs = "/apis/batch/v1/namespaces/train/jobs"
    async with stage.recording():
        spec = pod_spec(gpus=4, nodes=("dl-2",))
        body = a_job("sweep", 1, spec, activeDeadlineSeconds=12)
        await stage.api.create(jobs, body)

        async def failed() -> bool:
            found = await stage.api.get(f"{jobs}/sweep")
            conditions = found["status"].get("conditions", ())
            return any(one["type"] == "Failed" for one in conditions)

        await until(failed, "train/sweep has failed", seconds=60)
        stage.did("deadline", "the Job train/sweep is past its deadline")
        await stage.pause(10)
        await die_and_boot(stage, "dl-2")
        await wait_running(stage, "train", f"{JOB}=vae", 2)


@story("c18_failure_policy_then_drain", "fp-1", "fp-2", audit=True)
async def failure_policy(stage: BlindStage) -> None:
    """Fail a Job by its exit code, then drain its node."""
    await the_job(
        stage.api,
        "kandinsky",
        2,
        gpus=4,
        nodes=("fp-1", "fp-2"),
        topologySpreadConstraints=[_apart("kandinsky")],
    )
    codes = {"containerName": "main", "operator": "In", "values": [42]}
    rule = {"action": "FailJob", "onExitCodes": codes}
    body = a_job(
        "probe",
        1,
        pod_spec(gpus=4, nodes=("fp-2",)),
        podFailurePolicy={"rules": [rule]},
    )
    jobs = "/apis/batch/v1/namespaces/train/jobs"
    await stage.api.create(jobs, body)
    await wait_running(stage, "train", f"{JOB}=probe", 1)
    listed = await stage.api.get(
        "/api/v1/namespaces/train/pods", labelSelector=f"{JOB}=probe"
    )
    (pod,) = [found["metadata"]["name"] for found in listed["items"]]
    async with stage.recording():
        await stage.machine("fp-2").fail_pod("train", pod, 42)
        stage.did("failed", "the Job train/probe fails by its exit code")
        await stage.pause(8)
        stage.did("drain", "vera drains fp-2")
        await kubectl_as(stage, "vera", "drain", "fp-2", "--ignore-daemonsets")
        await stage.pause(2)
        await power_cycle(stage, "fp-2")
        await stage.pause(2)
        stage.did("uncordon", "vera uncordons fp-2")
        await kubectl_as(stage, "vera", "uncordon", "fp-2")
        await wait_running(stage, "train", f"{JOB}=kandinsky", 2)

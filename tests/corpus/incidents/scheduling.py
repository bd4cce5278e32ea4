"""Work that is taken from nodes on which nothing is wrong."""

from tests.corpus.incident import incident
from tests.corpus.kueue import QUEUED, kueue_controller, the_queues
from tests.corpus.placing import (
    a_job,
    place,
    pod_spec,
    the_job,
    the_namespace,
)
from tests.corpus.stage import Stage

NODE = "gpu-002"

PRIORITIES = "/apis/scheduling.k8s.io/v1/priorityclasses"

NO_NODE = "nothing happened to a node: only its Pods were preempted"


async def _priority(stage: Stage, name: str, value: int) -> None:
    priority = {"metadata": {"name": name}, "value": value}
    await stage.api.create(PRIORITIES, priority)


@incident("inference-preempts-training", nodes=3)
async def inference_preempts_training(stage: Stage) -> None:
    """Inference of a higher priority takes the GPUs of a training Pod."""
    await _priority(stage, "training", 100)
    await _priority(stage, "inference", 100_000)
    job = await the_job(
        stage.api, "llm-pretrain", 3, priorityClassName="training"
    )
    await the_namespace(stage.api, "serve")
    stage.hit(
        job, NODE, outcome="preempted", hit_by="preemption", unsure=NO_NODE
    )
    stage.not_hit("Pod/serve/chat")
    pod = {
        "metadata": {"name": "chat"},
        "spec": pod_spec(
            nodes=(NODE,),
            command=("vllm", "serve"),
            priorityClassName="inference",
        ),
    }
    async with stage.recording():
        stage.did("inference", "serve/chat asks for all GPUs of a node")
        await stage.api.create("/api/v1/namespaces/serve/pods", pod)
        await place(
            stage.api,
            ("Pod", "serve", "chat"),
            "",
            1,
            gang=None,
            gpus=8,
        )
        await stage.pause(12)


@incident("kueue-preemption", nodes=2)
async def kueue_preemption(stage: Stage) -> None:
    """Kueue suspends a Job so that one of a higher priority can run."""
    async with kueue_controller(stage):
        await _priority(stage, "low", 100)
        await _priority(stage, "high", 10_000)
        await the_namespace(stage.api, "train")
        await the_queues(stage, gpus=16)
        jobs = "/apis/batch/v1/namespaces/train/jobs"
        first = _queued("llm-research", "low")
        await stage.api.create(jobs, first)
        job = await place(
            stage.api,
            ("Job", "train", "llm-research"),
            "batch.kubernetes.io/job-name=llm-research",
            2,
            gang=2,
            gpus=8,
        )
        stage.hit(
            job,
            *sorted(job.pods.values()),
            outcome="preempted",
            hit_by="preemption",
            unsure=NO_NODE,
        )
        stage.not_hit("Job/train/llm-production")
        async with stage.recording(*QUEUED):
            stage.did("queued", "train/llm-production is queued")
            await stage.api.create(jobs, _queued("llm-production", "high"))
            await place(
                stage.api,
                ("Job", "train", "llm-production"),
                "batch.kubernetes.io/job-name=llm-production",
                2,
                gang=2,
                gpus=8,
            )
            await stage.pause(12)


def _queued(name: str, priority: str) -> dict[str, object]:
    spec = pod_spec(priorityClassName=priority)
    job = a_job(name, 2, spec, suspend=True)
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "gpus"}
    return job

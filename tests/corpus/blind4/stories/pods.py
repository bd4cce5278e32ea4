"""How incidents are played in which Pods are ended and the node stays."""

from typing import Any

from tests.corpus.acting import moment
from tests.corpus.blind.acts import evict_pod, pod_reference
from tests.corpus.blind.gangs import custom
from tests.corpus.blind.stage import (
    BlindStage,
    controller_of,
    story,
    wait_running,
    writer,
)
from tests.corpus.placing import a_job, pod_spec, the_deployment, the_job

GPUHEALTH = "autopilot.ibm.com/gpuhealth"

HANDSHAKE = "hami.io/node-handshake"


@story("e10_falco_talon_drains", "ft-1", "ft-2")
async def e10(stage: BlindStage) -> None:
    both = ("ft-1", "ft-2")
    await the_job(stage.api, "cv", 1, gpus=4, nodes=both, prefer="ft-1")
    await the_deployment(
        stage.api, "embed", 1, gpus=1, nodes=both, prefer="ft-1"
    )
    user = "system:serviceaccount:falco:falco-talon"
    async with stage.recording(), writer(stage, "falco-talon", user) as talon:
        stage.did("cordon", "Falco Talon cordons ft-1")
        await talon.mark("ft-1", unschedulable=True)
        stage.did("drain", "Falco Talon evicts the Pods of ft-1")
        await talon.evict_all("ft-1")
        selector = "batch.kubernetes.io/job-name=cv"
        await wait_running(stage, "train", selector, 1)
        await wait_running(stage, "serve", "app=embed", 1)
        await stage.pause(8)


@story("e11_autopilot_appwrapper", "au-1", "au-2", "au-3")
async def e11(stage: BlindStage) -> None:
    owner = await custom(
        stage,
        "workload.codeflare.dev",
        "v1beta2",
        "AppWrapper",
        "llm-ft",
        suspend=False,
    )
    jobs = "/apis/batch/v1/namespaces/train/jobs"
    selector = "batch.kubernetes.io/job-name=llm-ft-job"

    def the_component(*nodes: str) -> dict[str, Any]:
        wanted = a_job("llm-ft-job", 2, pod_spec(nodes=nodes))
        wanted["metadata"]["ownerReferences"] = controller_of(owner)
        labels = {"workload.codeflare.dev/appwrapper": "llm-ft"}
        wanted["metadata"]["labels"] = labels
        wanted["spec"]["template"]["metadata"] = {"labels": labels}
        return wanted

    await stage.api.create(jobs, the_component("au-1", "au-2"))
    await wait_running(stage, "train", selector, 2)
    pilot = "system:serviceaccount:autopilot:autopilot"
    user = "system:serviceaccount:mlbatch:appwrapper-controller"
    async with (
        stage.recording(),
        writer(
            stage,
            "OpenAPI-Generator",
            pilot,
            agent="OpenAPI-Generator/29.0.0/python",
        ) as autopilot,
        writer(stage, "appwrapper-controller", user) as appwrapper,
    ):
        stage.did("label", "Autopilot labels au-1 EVICT")
        at = moment()[:19].replace(":", ".")
        await autopilot.mark(
            "au-1",
            labels={
                "autopilot.ibm.com/dcgm.level.3": f"ERR_{at}_Memory.GPU3",
                GPUHEALTH: "EVICT",
            },
        )
        await stage.pause(5)
        stage.did("reset", "AppWrapper's controller deletes the Job")
        await appwrapper.api.delete(
            f"{jobs}/llm-ft-job", propagationPolicy="Foreground"
        )
        await stage.is_gone(f"{jobs}/llm-ft-job")
        await stage.pause(3)
        stage.did("resumed", "AppWrapper's controller creates the Job again")
        await appwrapper.create(jobs, the_component("au-2", "au-3"))
        await wait_running(stage, "train", selector, 2)
        await stage.pause(5)


@story("e12_chaoskube", "ck-1", "ck-2")
async def e12(stage: BlindStage) -> None:
    chat = await the_deployment(
        stage.api,
        "chat",
        1,
        gpus=1,
        nodes=("ck-1", "ck-2"),
        prefer="ck-1",
    )
    await the_job(stage.api, "lora", 1, gpus=4, nodes=("ck-1",))
    user = "system:serviceaccount:chaoskube:chaoskube"
    async with stage.recording(), writer(stage, "chaoskube", user) as chaos:
        await stage.pause(3)
        victim = chat.on("ck-1")
        about = await pod_reference(stage, "serve", victim)
        stage.did("deleted", "chaoskube deletes the Pod of serve/chat")
        await chaos.delete_pod("serve", victim)
        await chaos.event(
            about,
            "Killing",
            "Pod was terminated by chaoskube to introduce chaos.",
        )
        await wait_running(stage, "serve", "app=chat", 1, without=victim)
        await stage.pause(6)


@story("e19_hami_handshake", "ha-1")
async def e19(stage: BlindStage) -> None:
    await the_job(stage.api, "vae", 1, nodes=("ha-1",))
    user = "system:serviceaccount:kube-system:hami-scheduler"
    plugin = "system:serviceaccount:kube-system:hami-device-plugin"

    def now() -> str:
        return moment().replace("T", " ").rstrip("Z")

    async with (
        writer(stage, "scheduler", user) as scheduler,
        writer(stage, "nvidia-device-plugin", plugin) as device,
    ):
        registered = {"hami.io/node-nvidia-register": "GPU-5f1c,10,81920,100"}
        await device.mark(
            "ha-1", annotations={HANDSHAKE: f"Reported {now()}", **registered}
        )
        async with stage.recording():
            stage.did("requesting", "HAMi's scheduler asks the plugin")
            await scheduler.mark(
                "ha-1", annotations={HANDSHAKE: f"Requesting_{now()}"}
            )
            await stage.pause(10)
            stage.did("given up", "HAMi's scheduler gives the plugin up")
            await scheduler.mark(
                "ha-1", annotations={HANDSHAKE: f"Deleted_{now()}"}
            )
            await stage.pause(10)
            stage.did("reported", "HAMi's device plugin reports again")
            await device.mark(
                "ha-1", annotations={HANDSHAKE: f"Reported {now()}"}
            )
            await stage.pause(5)


@story("e23_katalyst_evicts", "ka-1", "ka-2", audit=True)
async def e23(stage: BlindStage) -> None:
    offline = await the_deployment(
        stage.api,
        "offline",
        1,
        gpus=1,
        nodes=("ka-1", "ka-2"),
        prefer="ka-1",
    )
    await the_job(stage.api, "rank", 1, gpus=4, nodes=("ka-1",))
    user = "system:serviceaccount:katalyst-system:katalyst-agent"
    async with (
        stage.recording(),
        writer(stage, "katalyst-agent", user) as agent,
    ):
        await stage.pause(3)
        victim = offline.on("ka-1")
        about = await pod_reference(stage, "serve", victim)
        why = "met threshold in scope: system.memory, value: 1.9Gi"
        stage.did("evicted", "Katalyst's agent evicts a Pod")
        await evict_pod(agent, "serve", victim)
        await agent.event(
            about,
            "EvictCreated",
            f"Successfully create eviction; reason: {why}",
        )
        await wait_running(stage, "serve", "app=offline", 1, without=victim)
        await agent.event(
            about,
            "EvictSucceeded",
            f"Evicted pod has been deleted physically; reason: {why}",
        )
        await stage.pause(6)


@story("e26_work_agent_taints", "oc-1", "oc-2")
async def e26(stage: BlindStage) -> None:
    key = "lab.example/quarantine"
    await the_job(
        stage.api, "rec", 1, gpus=4, nodes=("oc-1", "oc-2"), prefer="oc-1"
    )
    await the_job(
        stage.api,
        "burn-in",
        1,
        gpus=4,
        nodes=("oc-1",),
        tolerations=[{"key": key, "operator": "Exists"}],
    )
    user = "system:serviceaccount:ocm-agent:klusterlet-work-sa"
    async with stage.recording(), writer(stage, "work-agent", user) as agent:
        await stage.pause(3)
        stage.did("tainted", "the work agent taints oc-1")
        await agent.api.patch(
            "/api/v1/nodes/oc-1",
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": "oc-1"},
                "spec": {
                    "taints": [
                        {"key": key, "value": "dimm", "effect": "NoExecute"}
                    ]
                },
            },
            kind="apply",
            fieldManager="work-agent",
            force="true",
        )
        selector = "batch.kubernetes.io/job-name=rec"
        await wait_running(stage, "train", selector, 1)
        await stage.pause(10)

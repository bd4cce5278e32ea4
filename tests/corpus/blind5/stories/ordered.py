"""How incidents are played that a person or a program decided."""

from typing import Any

from tests.cluster.cluster import KubectlError
from tests.cluster.waiting import until
from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import power_cycle
from tests.corpus.blind.stage import (
    BlindStage,
    pods_on,
    story,
    wait_running,
    writer,
)
from tests.corpus.blind5.stories.acts import DRAIN, again, cloud_deletes
from tests.corpus.placing import the_deployment, the_job

UPDATE = "update.node.deckhouse.io"

OF_NODEREAPER = "nodereaper.wish.com/force-delete"

REBOOTER = "--as=system:serviceaccount:ops:rebooter"


@story(
    "f01_deckhouse_reboot_by_pia",
    "dh-1",
    "dh-2",
    audit=True,
    labels={"node.deckhouse.io/group": "worker"},
)
async def f01(stage: BlindStage) -> None:
    sam = await the_job(
        stage.api, "sam", 1, nodes=("dh-1", "dh-2"), prefer="dh-1", gpus=4
    )
    await the_job(stage.api, "lang", 1, gpus=4, nodes=("dh-2",))
    user = "system:serviceaccount:d8-system:deckhouse"
    async with (
        stage.recording(),
        writer(
            stage,
            "curl",
            "system:node:dh-1",
            ("system:nodes",),
            agent="curl/8.5.0",
        ) as bashible,
        writer(stage, "deckhouse-controller", user) as deckhouse,
    ):
        stage.did("asked", "pia annotates dh-1 for a reboot")
        await kubectl_as(
            stage, "pia", "annotate", "node", "dh-1", f"{UPDATE}/reboot="
        )
        await stage.pause(3)
        stage.did("draining", "bashible on dh-1 asks for a drain")
        await bashible.mark(
            "dh-1", annotations={f"{UPDATE}/draining": "bashible"}
        )
        await stage.pause(1)
        stage.did("cordon", "Deckhouse cordons dh-1 and evicts its Pods")
        await deckhouse.mark("dh-1", unschedulable=True)
        await stage.pause(1)
        await deckhouse.evict_all("dh-1")
        await deckhouse.mark(
            "dh-1",
            annotations={
                f"{UPDATE}/draining": None,
                f"{UPDATE}/drained": "bashible",
            },
        )
        await stage.pause(2)
        await bashible.mark("dh-1", annotations={f"{UPDATE}/reboot": None})
        await power_cycle(stage, "dh-1")
        await stage.pause(2)
        stage.did("uncordon", "Deckhouse uncordons dh-1")
        await deckhouse.mark(
            "dh-1",
            annotations={f"{UPDATE}/drained": None},
            unschedulable=False,
        )
        await again(stage, sam)
        await stage.pause(2)


@story("f02_node_operator_drains", "no-1", "no-2")
async def f02(stage: BlindStage) -> None:
    both = ("no-1", "no-2")
    tabnet = await the_job(
        stage.api, "tabnet", 1, gpus=7, nodes=both, prefer="no-1"
    )
    await the_deployment(
        stage.api, "rank", 1, gpus=1, nodes=both, prefer="no-1"
    )
    async with (
        stage.recording(),
        writer(stage, "node-operator", "node-operator") as operator,
    ):
        stage.did("cordon", "node-operator cordons no-1")
        await operator.mark("no-1", unschedulable=True)
        await stage.pause(1)
        stage.did("drain", "node-operator evicts the Pods of no-1")
        await operator.evict_all("no-1")
        await again(stage, tabnet)
        await wait_running(stage, "serve", "app=rank", 1)
        await stage.pause(3)
        await stage.crash("no-1", label="terminated")
        await stage.is_unknown("no-1")
        await stage.pause(2)
        await cloud_deletes(stage, "no-1")
        await stage.pause(5)


@story(
    "f03_nodereaper_deletes_itself",
    "nr-1",
    "nr-2",
    labels={"lab.example/instance-group": "workers"},
)
async def f03(stage: BlindStage) -> None:
    mixer = await the_job(
        stage.api, "mixer", 1, nodes=("nr-1", "nr-2"), prefer="nr-1"
    )
    account = "system:serviceaccount:kube-system"
    async with (
        stage.recording(),
        writer(stage, "nodereaper", f"{account}:nodereaper") as controller,
        writer(stage, "nodereaperd", f"{account}:nodereaperd") as daemon,
    ):
        await stage.pause(2)
        stage.did("label", "nodereaper labels nr-1 for deletion")
        await controller.mark("nr-1", labels={OF_NODEREAPER: "nodereaper"})
        await stage.pause(2)
        stage.did("drain", "nodereaperd cordons nr-1 and evicts its Pods")
        await daemon.mark("nr-1", unschedulable=True)
        await daemon.evict_all("nr-1")
        await daemon.taint(
            "nr-1", "NodereaperDeletingNode", "true", "NoExecute"
        )
        await again(stage, mixer)
        await stage.pause(4)
        stage.did("deleted", "nodereaperd deletes the Node nr-1")
        await daemon.delete("/api/v1/nodes/nr-1")
        await stage.pause(1)
        await stage.crash("nr-1", label="poweroff")
        await stage.pause(10)


@story("f04_lambda_drainer", "la-1", "la-2", audit=True)
async def f04(stage: BlindStage) -> None:
    wav = await the_job(
        stage.api, "wav2vec", 1, nodes=("la-1", "la-2"), prefer="la-1"
    )
    async with (
        stage.recording(),
        writer(
            stage,
            "OpenAPI-Generator",
            "lambda",
            agent="OpenAPI-Generator/11.0.0/python",
        ) as function,
    ):
        await stage.pause(1)
        stage.did("cordon", "the function cordons la-1")
        await function.mark("la-1", unschedulable=True)
        stage.did("drain", "the function evicts the Pods of la-1")
        await function.evict_all("la-1")
        await again(stage, wav)
        await stage.pause(4)
        await stage.crash("la-1", label="terminated")
        await stage.is_unknown("la-1")
        await stage.pause(2)
        await cloud_deletes(stage, "la-1")
        await stage.pause(5)


@story("f05_dora_as_service_account", "im-1", "im-2", audit=True)
async def f05(stage: BlindStage) -> None:
    pix = await the_job(
        stage.api, "pix", 1, nodes=("im-1", "im-2"), prefer="im-1"
    )
    await kubectl_as(
        stage,
        "setup",
        "create",
        "clusterrolebinding",
        "rebooter",
        "--clusterrole=cluster-admin",
        "--serviceaccount=ops:rebooter",
    )
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "dora drains im-1 as a service account")
        await kubectl_as(stage, "dora", REBOOTER, "drain", "im-1", *DRAIN)
        await again(stage, pix)
        await stage.pause(2)
        await power_cycle(stage, "im-1")
        await stage.pause(2)
        stage.did("uncordon", "dora uncordons im-1 as a service account")
        await kubectl_as(stage, "dora", REBOOTER, "uncordon", "im-1")
        await stage.pause(3)


@story("f06_ada_then_bob", "ho-1", "ho-2", audit=True)
async def f06(stage: BlindStage) -> None:
    crnn = await the_job(
        stage.api, "crnn", 1, gpus=4, nodes=("ho-1", "ho-2"), prefer="ho-1"
    )
    await the_job(stage.api, "filler", 1, gpus=4, nodes=("ho-2",))
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "ada drains ho-1")
        await kubectl_as(stage, "ada", "drain", "ho-1", *DRAIN)
        await again(stage, crnn)
        await stage.pause(3)
        await power_cycle(stage, "ho-1")
        await stage.pause(5)
        stage.did("uncordon", "bob uncordons ho-1")
        await kubectl_as(stage, "bob", "uncordon", "ho-1")
        await stage.pause(3)


@story("f07_budget_stops_nils", "pb-1", "pb-2", audit=True)
async def f07(stage: BlindStage) -> None:
    bulk = await the_job(
        stage.api, "bulk", 1, gpus=4, nodes=("pb-1", "pb-2"), prefer="pb-1"
    )
    await the_deployment(stage.api, "single", 1, gpus=1, nodes=("pb-1",))
    budgets = "/apis/policy/v1/namespaces/serve/poddisruptionbudgets"
    await stage.api.create(
        budgets,
        {
            "metadata": {"name": "single"},
            "spec": {
                "minAvailable": 1,
                "selector": {"matchLabels": {"app": "single"}},
            },
        },
    )

    async def guards() -> bool:
        found = await stage.api.get(f"{budgets}/single")
        status: dict[str, Any] = found.get("status", {})
        return status.get("currentHealthy") == 1

    await until(guards, "the budget counts its Pod")
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "nils drains pb-1, which times out")
        try:
            await kubectl_as(
                stage, "nils", "drain", "pb-1", "--timeout=12s", *DRAIN
            )
        except KubectlError:
            pass
        else:
            message = "the budget did not hold its Pod"
            raise AssertionError(message)
        stage.did("uncordon", "nils uncordons pb-1")
        await kubectl_as(stage, "nils", "uncordon", "pb-1")
        await again(stage, bulk)
        assert len(await pods_on(stage, "pb-1")) == 1
        await stage.pause(6)


@story("f08_pod_reaper", "rp-1", "rp-2", audit=True)
async def f08(stage: BlindStage) -> None:
    cache = await the_deployment(
        stage.api, "cache", 1, gpus=1, nodes=("rp-1", "rp-2"), prefer="rp-1"
    )
    await the_job(stage.api, "glue", 1, gpus=4, nodes=("rp-1",))
    user = "system:serviceaccount:reaper:pod-reaper"
    async with stage.recording(), writer(stage, "pod-reaper", user) as reaper:
        await stage.pause(3)
        victim = cache.on("rp-1")
        stage.did("deleted", "pod-reaper deletes the Pod of serve/cache")
        await reaper.delete_pod("serve", victim)
        await wait_running(stage, "serve", "app=cache", 1, without=victim)
        await stage.pause(8)

"""How incidents are played in which machines are taken down by order."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from tests.corpus.acting import kubectl_as
from tests.corpus.blind.acts import owned_pod, power_cycle
from tests.corpus.blind.stage import (
    BlindStage,
    Writer,
    story,
    wait_running,
    writer,
)
from tests.corpus.blind5.stories.acts import DRAIN, again, cloud_deletes
from tests.corpus.placing import (
    the_deployment,
    the_job,
    the_namespace,
)
from tests.corpus.skewing import with_clock_moved
from tests.corpus.tape_lines import Lines

AHEAD = timedelta(hours=2)

PYTHON = "OpenAPI-Generator"

OF_LIFECYCLE_MANAGER = "lifecycle-manager.keikoproj.io/in-progress"


def _ahead(tape: Lines, _times: Mapping[str, Any]) -> Lines:
    return with_clock_moved(tape, "ca-1", AHEAD)


async def _emptied(stage: BlindStage, acting: Writer, node: str) -> None:
    """Cordon a node and evict its Pods."""
    stage.did("drain", f"{acting.manager} drains {node}")
    await acting.mark(node, unschedulable=True)
    await acting.evict_all(node)


async def _cycled(stage: BlindStage, node: str, number: int) -> None:
    """Switch off and on the machine that is the first, or the second."""
    await stage.crash(node, label=f"off {number}")
    await stage.pause(7)
    await stage.boot(node, label=f"boot {number}")
    await stage.ready(node)
    await stage.pause(2)


async def _terminated(stage: BlindStage, node: str) -> None:
    await stage.pause(3)
    await stage.crash(node, label="terminated")
    await stage.is_unknown(node)
    await stage.pause(2)
    await cloud_deletes(stage, node)
    await stage.pause(5)


@story("g01_rebuy_node_drainer", "rd-1", "rd-2")
async def g01(stage: BlindStage) -> None:
    resnet = await the_job(
        stage.api, "resnet", 1, nodes=("rd-1", "rd-2"), prefer="rd-1"
    )

    def shutdown(node: dict[str, Any]) -> None:
        node["spec"].setdefault("taints", []).append(
            {
                "key": "rebuy.com/shutdown",
                "value": "Exists",
                "effect": "NoSchedule",
            }
        )

    user = "system:serviceaccount:kube-system:node-drainer"
    async with stage.recording(), writer(stage, "node-drainer", user) as by:
        await stage.pause(1)
        stage.did("tainted", "node-drainer taints rd-1")
        await by.replace_node("rd-1", shutdown)
        stage.did("drain", "node-drainer evicts the Pods of rd-1")
        await by.evict_all("rd-1")
        await again(stage, resnet)
        await _terminated(stage, "rd-1")


@story("g02_lifecycle_manager", "lm-1", "lm-2", audit=True)
async def g02(stage: BlindStage) -> None:
    both = ("lm-1", "lm-2")
    unet = await the_job(
        stage.api, "unet", 1, gpus=6, nodes=both, prefer="lm-1"
    )
    await the_deployment(
        stage.api, "embed", 1, gpus=1, nodes=both, prefer="lm-1"
    )
    user = "system:serviceaccount:kube-system:lifecycle-manager"
    async with (
        stage.recording(),
        writer(stage, "lifecycle-manager", user) as manager,
    ):
        await stage.pause(1)
        stage.did("annotated", "lifecycle-manager annotates lm-1 by kubectl")
        await kubectl_as(
            stage,
            user,
            "annotate",
            "--overwrite",
            "node",
            "lm-1",
            f'{OF_LIFECYCLE_MANAGER}={{"EC2InstanceId":"i-0a51d3c2"}}',
        )
        await stage.pause(2)
        await _emptied(stage, manager, "lm-1")
        await again(stage, unet)
        await wait_running(stage, "serve", "app=embed", 1)
        await _terminated(stage, "lm-1")


@story("g03_ansible_tom", "an-1", "an-2", audit=True)
async def g03(stage: BlindStage) -> None:
    deit = await the_job(
        stage.api, "deit", 1, nodes=("an-1", "an-2"), prefer="an-1"
    )
    async with (
        stage.recording(),
        writer(
            stage, PYTHON, "tom", agent=f"{PYTHON}/31.0.0/python"
        ) as playbook,
    ):
        await stage.pause(1)
        await _emptied(stage, playbook, "an-1")
        await again(stage, deit)
        await stage.pause(2)
        await power_cycle(stage, "an-1")
        await stage.pause(2)
        stage.did("uncordon", "the playbook uncordons an-1")
        await playbook.mark("an-1", unschedulable=False)
        await stage.pause(3)


@story("g04_k9s_rosa", "k9-1", "k9-2", "k9-3", audit=True)
async def g04(stage: BlindStage) -> None:
    jobs = {
        node: await the_job(
            stage.api, name, 1, gpus=4, nodes=(node, "k9-3"), prefer=node
        )
        for node, name in (("k9-1", "vit"), ("k9-2", "swin"))
    }
    async with (
        stage.recording(),
        writer(stage, "k9s", "rosa", agent="k9s/v0.50.6") as rosa,
    ):
        for number, node in enumerate(jobs, start=1):
            await stage.pause(2)
            stage.did(f"drain {number}", f"rosa drains {node} in k9s")
            await rosa.mark(node, unschedulable=True)
            await rosa.evict_all(node)
            await again(stage, jobs[node])
            await _cycled(stage, node, number)
            stage.did(f"uncordon {number}", f"rosa uncordons {node} in k9s")
            await rosa.mark(node, unschedulable=False)


@story("g05_node_restart_plugin", "pl-1", "pl-2", "pl-3")
async def g05(stage: BlindStage) -> None:
    jobs = {
        node: await the_job(
            stage.api, name, 1, gpus=4, nodes=(node, "pl-3"), prefer=node
        )
        for node, name in (("pl-1", "mlm"), ("pl-2", "nsp"))
    }
    await the_namespace(stage.api, "kube-system")
    async with stage.recording():
        for number, node in enumerate(jobs, start=1):
            await stage.pause(1)
            stage.did(f"drain {number}", f"the plugin drains {node}")
            await kubectl_as(stage, "wim", "drain", node, *DRAIN)
            await again(stage, jobs[node])
            stage.did(f"pod {number}", f"a Pod reboots the machine of {node}")
            await owned_pod(
                stage,
                "kube-system",
                f"node-restart-{node}",
                None,
                gpus=0,
                nodes=(node,),
                command=("nsenter", "-t", "1", "-m", "systemctl", "reboot"),
                tolerations=[{"operator": "Exists"}],
            )
            await _cycled(stage, node, number)
            await kubectl_as(
                stage,
                "wim",
                "delete",
                "-n",
                "kube-system",
                f"pod/node-restart-{node}",
            )
            stage.did(f"uncordon {number}", f"the plugin uncordons {node}")
            await kubectl_as(stage, "wim", "uncordon", node)


@story("g06_clusterman", "cm-1", "cm-2")
async def g06(stage: BlindStage) -> None:
    albert = await the_job(
        stage.api, "albert", 1, nodes=("cm-1", "cm-2"), prefer="cm-1"
    )
    user = "system:serviceaccount:paasta:clusterman"
    async with (
        stage.recording(),
        writer(
            stage, PYTHON, user, agent=f"{PYTHON}/24.2.0/python"
        ) as clusterman,
    ):
        await stage.pause(1)
        await _emptied(stage, clusterman, "cm-1")
        await again(stage, albert)
        await _terminated(stage, "cm-1")


@story("g07_dashboard_admin_user", "db-1", "db-2", audit=True)
async def g07(stage: BlindStage) -> None:
    fcn = await the_job(
        stage.api, "fcn", 1, nodes=("db-1", "db-2"), prefer="db-1"
    )
    user = "system:serviceaccount:kubernetes-dashboard:admin-user"
    async with (
        stage.recording(),
        writer(
            stage, "dashboard-api", user, agent="dashboard-api/1.10.1"
        ) as dashboard,
    ):
        await stage.pause(1)
        await _emptied(stage, dashboard, "db-1")
        await again(stage, fcn)
        await stage.pause(2)
        await power_cycle(stage, "db-1")
        await stage.pause(2)
        stage.did("uncordon", "db-1 is uncordoned in the dashboard")

        def schedulable(node: dict[str, Any]) -> None:
            node["spec"].pop("unschedulable", None)

        await dashboard.replace_node("db-1", schedulable)
        await stage.pause(3)


@story("g08_clock_ahead_ivo", "ca-1", "ca-2", audit=True, edit=_ahead)
async def g08(stage: BlindStage) -> None:
    pose = await the_job(
        stage.api, "pose", 1, nodes=("ca-1", "ca-2"), prefer="ca-1"
    )
    async with stage.recording():
        await stage.pause(1)
        stage.did("drain", "ivo drains ca-1")
        await kubectl_as(stage, "ivo", "drain", "ca-1", *DRAIN)
        await again(stage, pose)
        await stage.pause(2)
        await power_cycle(stage, "ca-1")
        await stage.pause(2)
        stage.did("uncordon", "ivo uncordons ca-1")
        await kubectl_as(stage, "ivo", "uncordon", "ca-1")
        await stage.pause(3)

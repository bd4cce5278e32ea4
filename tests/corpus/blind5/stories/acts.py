"""What stories of several modules do."""

from collections.abc import Sequence

from tests.corpus.blind.stage import BlindStage, wait_running, writer
from tests.corpus.placing import Placed, pod_spec, the_namespace

__all__ = ["DRAIN", "again", "cloud_deletes", "the_daemonset"]

DRAIN = ("--ignore-daemonsets", "--delete-emptydir-data", "--force")


async def again(stage: BlindStage, placed: Placed) -> None:
    """Wait until another Pod of a Job runs than at first."""
    (old,) = placed.pods
    selector = f"batch.kubernetes.io/job-name={placed.name}"
    await wait_running(stage, placed.namespace, selector, 1, without=old)


async def cloud_deletes(stage: BlindStage, node: str) -> None:
    """Delete a Node whose instance is gone, as the cloud's controller does."""
    async with writer(
        stage,
        "cloud-controller-manager",
        "system:cloud-controller-manager",
    ) as cloud:
        await cloud.event(
            await cloud.node_reference(node),
            "DeletingNode",
            f"Deleting node {node} because it does not exist in the cloud "
            "provider",
            component="cloud-node-lifecycle-controller",
        )
        stage.did("deleted", f"the cloud's controller deletes {node}")
        await cloud.delete(f"/api/v1/nodes/{node}")


async def the_daemonset(
    stage: BlindStage, name: str, nodes: Sequence[str]
) -> None:
    """Create the DaemonSet kube-system/NAME, and wait until it runs."""
    await the_namespace(stage.api, "kube-system")
    template = pod_spec(gpus=0, command=("agent",), grace=1)
    del template["restartPolicy"]
    labels = {"app": name}
    await stage.api.create(
        "/apis/apps/v1/namespaces/kube-system/daemonsets",
        {
            "metadata": {"name": name},
            "spec": {
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": template},
            },
        },
    )
    await wait_running(stage, "kube-system", f"app={name}", len(nodes))

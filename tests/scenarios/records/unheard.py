"""One resource is not watched for a while; the others are."""

from tests.corpus.blinding import Blind
from tests.scenarios.provider.provider import CLAIMS, claim, disrupts, marks
from tests.scenarios.requests.requests import DEADLOCK, NPD, SOUND
from tests.scenarios.telling.registry import incident
from tests.scenarios.telling.scene import Scene
from tests.scenarios.telling.truths import (
    OR_FAILED,
    controller,
    or_decision,
    or_fault,
)
from tests.scenarios.telling.world import EVENTS, LEASES, NODES, PODS
from tests.scenarios.upgrades.boots import NEW, gives, kured, takes
from tests.scenarios.upgrades.operators import web
from tests.scenarios.workloads.work import JOBS, gang, hits_one, owned

HIDDEN = {"mode": ["unknown"]}


@incident
def no_event_is_heard_of_a_crash() -> Scene:
    scene = Scene().dies(20, "gpu-002", 600)
    scene.blind(Blind(10, 900, EVENTS))
    return scene.unexplained("gpu-002", accept=HIDDEN)


@incident
def no_node_is_heard_of_in_a_crash() -> Scene:
    scene = Scene().dies(20, "gpu-002", 600)
    scene.blind(Blind(10, 900, NODES))
    return scene.unexplained("gpu-002", accept=HIDDEN)


@incident
def no_lease_is_heard_of_in_a_cut() -> Scene:
    scene = Scene().silent(20, "gpu-002").stale(66, "gpu-002")
    scene.heals(300, "gpu-002").blind(Blind(10, 200, LEASES))
    return scene.cut_off(
        "gpu-002", "network-partition", accept={**HIDDEN, **or_fault(None)}
    )


@incident
def no_pod_is_heard_of_while_kured_drains() -> Scene:
    scene = Scene().runs(-5, "web-0", "gpu-002", gpus=0)
    kured(scene)
    takes(scene, 20, "gpu-002")
    scene.evicts(20.1, "web-0").blind(Blind(15, 30, PODS))
    # It may have been over before it could be drained.
    accept = {**OR_FAILED, "outcome": ["unknown"]}
    scene.hit_pod("web-0", "gpu-002", by="drain", accept=accept)
    scene.silent(40, "gpu-002").boots(75, "gpu-002", kernelVersion=NEW)
    gives(scene, 130, "gpu-002")
    return scene.rebooted(
        "gpu-002", "os-upgrade", controller("kured"), accept=HIDDEN
    )


@incident
def no_pod_is_heard_of_in_a_crash() -> Scene:
    scene = Scene()
    gang(scene, owned(scene, "Job", JOBS))
    scene.dies(20, "gpu-002", 600).tainted_away(372, "w-1")
    scene.fails(611, "w-1", 255, "Unknown").gone(611.2, "w-1")
    scene.blind(Blind(100, 700, PODS))
    # Nothing vouches for Pods from the first list on, and a Pod may be over.
    hits_one(scene, accept={"outcome": ["unknown"]})
    return scene.unexplained("gpu-002", accept=HIDDEN)


@incident
def no_event_is_heard_of_a_consolidation() -> Scene:
    scene = Scene()
    claim(scene)
    disrupts(scene, 20, "Underutilized")
    scene.blind(Blind(10, 200, EVENTS))
    return scene.decided(
        "gpu-002",
        "removed",
        "scale-down",
        controller("karpenter"),
        back=False,
        accept={**HIDDEN, **or_decision("node-deletion")},
    )


@incident
def neither_event_nor_claim_is_heard_of_a_drift() -> Scene:
    scene = Scene()
    claim(scene)
    disrupts(scene, 20, "Drifted")
    for resource in (EVENTS, CLAIMS):
        scene.blind(Blind(10, 200, resource))
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        decision="node-deletion",
        actor=controller("karpenter"),
        most="possible",
        back=False,
        accept={**HIDDEN, **or_decision("scale-down")},
    )


@incident
def no_node_is_heard_of_in_a_scale_down() -> Scene:
    scene = Scene()
    marks(scene, 620, "1772359820")
    scene.leaves(700, "gpu-002").blind(Blind(600, 800, NODES))
    return scene.expect(
        "gpu-002",
        "removed",
        "planned",
        decision="scale-down",
        actor=controller("cluster-autoscaler"),
        back=False,
        accept=HIDDEN,
    )


@incident
def no_node_is_heard_of_while_it_hangs_and_heals() -> Scene:
    scene = Scene().node(20, "gpu-002", NPD, conditions=DEADLOCK)
    scene.node(200, "gpu-002", NPD, conditions=SOUND)
    scene.blind(Blind(10, 300, NODES))
    scene.dies(900, "gpu-002", 1500)
    return scene.unexplained("gpu-002", accept=HIDDEN)


@incident
def no_daemonset_is_heard_of_while_kured_locks() -> Scene:
    scene = Scene()
    kured(scene)
    takes(scene, 20, "gpu-002")
    scene.blind(Blind(10, 60, "apps/v1/daemonsets"))
    scene.silent(40, "gpu-002").boots(100, "gpu-002", kernelVersion=NEW)
    gives(scene, 160, "gpu-002")
    return scene.rebooted(
        "gpu-002", "os-upgrade", controller("kured"), accept=HIDDEN
    )


@incident
def the_cordon_is_heard_of_and_not_what_it_was_for() -> Scene:
    scene = web(Scene())
    scene.node(20, "gpu-002", "kured", cordon=True).evicts(20.3, "web-0")
    scene.silent(40, "gpu-002").boots(75, "gpu-002", kernelVersion=NEW)
    scene.node(130, "gpu-002", "kured", cordon=False)
    # Its lock is unknown: the permission to list DaemonSets is missing.
    return scene.rebooted(
        "gpu-002",
        "os-upgrade",
        controller("kured"),
        most="likely",
        accept={**HIDDEN, **or_decision(None)},
    )

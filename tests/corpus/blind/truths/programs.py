"""Truths of incidents in which programs act on nodes."""

from tests.corpus.blind.truth import REBOOT_ORDERED, Truth, asked, job

__all__ = ["PROGRAMS"]

EVICTED = ("EvictionByEvictionAPI, exit 143",)
TAINTED = ("DeletionByTaintManager, exit 255",)
DELETED = ("no DisruptionTarget, exit 143",)

PROGRAMS = (
    Truth(
        name="b01_cke_reboot_queue",
        software="CKE: cybozu-go/cke op/reboot.go",
        says="CKE annotates and cordons a node, evicts its Pods, runs its "
        "reboot command, and uncordons. It leaves alone nodes with Job Pods.",
        questions=[
            asked(
                "ck-2",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="cke",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="an entry of CKE's reboot queue",
                must_not_say=["crash", "kernel panic"],
                jobs=[
                    job(
                        "Deployment/serve/embed",
                        8,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["ck-2"],
                    )
                ],
                not_hit=["train/pretrain"],
            )
        ],
    ),
    Truth(
        name="b02_kairos_nodeop",
        software="Kairos operator: kairos-io/kairos-operator "
        "internal/controller/nodeop_controller.go",
        says="A NodeOpUpgrade that existed before makes the operator cordon "
        "a node, delete its Pods (no evictions), run a Job, and reboot "
        "through a Pod with nsenter; the OS image is another afterwards. A "
        "person labels the node meanwhile.",
        audit=True,
        questions=[
            asked(
                "ka-2",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="kairos-operator",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="a NodeOp of the Kairos operator",
                must_not_say=["mira", "crash"],
                jobs=[
                    job(
                        "Job/train/asr",
                        16,
                        "restarted",
                        "rescheduled",
                        how=DELETED,
                        lost_on=["ka-2"],
                        gang=2,
                    )
                ],
                may_list=[
                    "default/kairos-upgrade",
                    "default/kairos-upgrade-ka-2",
                ],
            )
        ],
    ),
    Truth(
        name="b03_fleetlock_zincati",
        software="fleetlock for Zincati: poseidon/fleetlock internal/drain.go",
        says="fleetlock cordons and evicts for a Zincati request, the machine "
        "reboots into another Fedora CoreOS, fleetlock uncordons.",
        questions=[
            asked(
                "fl-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="fleetlock",
                boots=(1, 2),
                stopped=["off", "boot"],
                trigger="Zincati's request to reboot into an update",
                must_not_say=["crash", "kernel panic"],
                jobs=[
                    job(
                        "Job/train/rl",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=EVICTED,
                        lost_on=["fl-1"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b04_k0s_autopilot",
        software="k0s autopilot: k0sproject/k0s "
        "pkg/autopilot/controller/signal/k0s/cordon.go",
        says="A Plan signals a worker, which is cordoned and drained; k0s "
        "starts again in another version, and with it the kubelet. The "
        "machine does not reboot.",
        questions=[
            asked(
                "k0-2",
                "kubelet_restart",
                (10, 1, 11, 14),
                planned=True,
                actor="k0s",
                stopped=["down", "up"],
                trigger="an autopilot Plan for another version of k0s",
                must_not_say=["reboot", "crash"],
                jobs=[
                    job(
                        "Deployment/serve/rank",
                        8,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["k0-2"],
                    )
                ],
                not_hit=["train/steady"],
            )
        ],
    ),
    Truth(
        name="b05_magnum_auto_healer",
        software="magnum-auto-healer: kubernetes/cloud-provider-openstack "
        "pkg/autohealing/controller/controller.go, "
        "cloudprovider/openstack/provider.go; MiniCluster of the Flux "
        "operator: flux-framework/flux-operator",
        says="A node stops to answer. The auto healer cordons it, asks Nova "
        "for a soft reboot, and uncordons it at once, before it has booted.",
        audit=True,
        questions=[
            asked(
                "mg-2",
                "reboot",
                (2, 1, 11, 14),
                planned=True,
                actor="magnum-auto-healer",
                boots=(1, 2),
                stopped=["hang", "boot"],
                trigger="the auto healer found the node not ready",
                must_not_say=["kernel panic"],
                jobs=[
                    job(
                        "MiniCluster/hpc/lammps",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["mg-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b06_kube_fencing",
        software="kube-fencing: kvaps/kube-fencing "
        "pkg/controller/node/node_controller.go, "
        "pkg/controller/job/job_controller.go",
        says="A machine dies by itself. The fencing controller annotates its "
        "Node, lets a Job power-cycle it, and deletes all of its Pods. That "
        "it went down was decided by none; that it booted, by fencing.",
        questions=[
            asked(
                "kf-2",
                "reboot",
                (2, 3, 5, 12),
                planned=None,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned", "kernel panic as a fact"],
                jobs=[
                    job(
                        "Job/train/vit",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        how=TAINTED,
                        lost_on=["kf-2"],
                        gang=2,
                    )
                ],
                may_list=["fencing/fence-kf-2"],
            )
        ],
    ),
    Truth(
        name="b07_escalator_scale_down",
        software="escalator: atlassian/escalator pkg/k8s/taint.go, "
        "pkg/controller/scale_down.go",
        says="escalator taints an idle node, and deletes its Node after the "
        "hard grace period with a Pod still on it. A Job had completed there.",
        audit=True,
        questions=[
            asked(
                "es-3",
                "removed",
                (13, 15),
                planned=True,
                actor="escalator",
                stopped=["removed", None],
                trigger="the node group was too large",
                must_not_say=["crash", "unreachable"],
                jobs=[
                    job(
                        "Deployment/serve/thumbs",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        lost_on=["es-3"],
                    )
                ],
                not_hit=["train/ocr", "train/anchor"],
            )
        ],
    ),
    Truth(
        name="b08_longhorn_node_down",
        software="Longhorn: longhorn/longhorn-manager "
        "controller/kubernetes_pod_controller.go",
        says="A machine dies and stays off. Longhorn force-deletes the Pod of "
        "a StatefulSet that the taint manager had marked, so that it comes "
        "back elsewhere.",
        questions=[
            asked(
                "lh-2",
                "unreachable",
                (3, 5, 12),
                planned=False,
                stopped=["crash", None],
                must_not_say=["longhorn decided", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "StatefulSet/db/vectors",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=("DeletionByTaintManager",),
                        lost_on=["lh-2"],
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b09_keiko_rolling_upgrade",
        software="upgrade-manager: keikoproj/upgrade-manager "
        "controllers/upgrade.go, controllers/providers/kubernetes",
        says="A RollingUpgrade lets upgrade-manager cordon and drain a node "
        "and terminate its instance; the cloud's node lifecycle controller "
        "deletes the Node; a machine of another name joins.",
        audit=True,
        questions=[
            asked(
                "kk-3",
                "removed",
                (10, 11, 14, 15),
                planned=True,
                actor="upgrade-manager",
                stopped=["off", None],
                trigger="a RollingUpgrade of the node group",
                must_not_say=["crash", "scale-down"],
                jobs=[
                    job(
                        "Job/train/tts",
                        16,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        how=EVICTED,
                        lost_on=["kk-3"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b10_node_undertaker",
        software="node-undertaker: dbschenker/node-undertaker "
        "pkg/nodeundertaker/node/node.go",
        says="A node stops to renew its lease. node-undertaker labels and "
        "taints it, terminates its instance, and deletes the Node.",
        audit=True,
        questions=[
            asked(
                "nu-2",
                "removed",
                (2, 15),
                planned=True,
                actor="node-undertaker",
                stopped=["hang", None],
                trigger="the node's lease was not fresh",
                must_not_say=["scale-down", "kernel panic"],
                jobs=[
                    job(
                        "Job/train/gnn",
                        16,
                        "still_down",
                        "evicted",
                        how=("DeletionByTaintManager",),
                        lost_on=["nu-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b11_instance_gone",
        software="cloud-lifecycle-controller: "
        "nxtlytics/cloud-lifecycle-controller controllers/node_controller.go",
        says="An instance vanishes in the cloud, for a reason that nothing in "
        "the cluster holds; the controller then deletes its Node.",
        questions=[
            asked(
                "ig-2",
                "removed",
                (15, 2, 11),
                planned=None,
                stopped=["crash", None],
                must_not_say=["a person", "kernel panic"],
                missing_evidence=["who or what ended the instance"],
                jobs=[
                    job(
                        "Job/train/moe",
                        16,
                        "still_down",
                        "evicted",
                        how=("DeletionByTaintManager",),
                        lost_on=["ig-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
)

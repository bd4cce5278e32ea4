"""What is true where two causes, or two failures, are near each other."""

from tests.corpus.blind.truth import ABRUPT, REBOOT_ORDERED, Truth, asked, job

__all__ = ["NEAR"]

NEAR = (
    Truth(
        name="f09_wrong_node_lars",
        software="Kubernetes: kubectl cordon, kubectl drain",
        says="lars cordons the wrong node, and uncordons it at once. He "
        "drains the right one, and it is power-cycled; while it is down, the "
        "machine of the wrong one dies by itself.",
        audit=True,
        questions=[
            asked(
                "wn-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("died", "back"),
                jobs=[
                    job(
                        "Job/train/alpha",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["wn-1"],
                    )
                ],
                not_hit=["train/beta"],
                must_not_say=["lars", "planned"],
            ),
            asked(
                "wn-2",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="lars",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/beta",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["wn-2"],
                    )
                ],
                not_hit=["train/alpha"],
                must_not_say=["crash"],
            ),
        ],
    ),
    Truth(
        name="f10_reloader_then_crash",
        software="Reloader: stakater/Reloader internal/pkg/handler/upgrade.go",
        says="A ConfigMap changes, and Reloader rolls the Deployment that "
        "uses it, whose Pod leaves the node; nine seconds later the machine "
        "dies by itself.",
        questions=[
            asked(
                "rl-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/codec",
                        7,
                        "restarted",
                        "rescheduled",
                        lost_on=["rl-1"],
                    ),
                    job("Deployment/serve/gateway", 1, "survived"),
                ],
                not_hit=["serve/gateway"],
                must_not_say=["Reloader", "planned"],
            )
        ],
    ),
    Truth(
        name="f11_taint_withdrawn_then_crash",
        software="Kubernetes: kubectl taint; tolerationSeconds, "
        "kubernetes/kubernetes pkg/controller/tainteviction",
        says="otto taints a node NoExecute, and takes the taint back before "
        "any Pod had to leave. Nine seconds later the machine dies by "
        "itself.",
        questions=[
            asked(
                "tw-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/voice",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["tw-1"],
                    )
                ],
                must_not_say=["the taint as the cause", "planned"],
            )
        ],
    ),
    Truth(
        name="f12_downscaler_then_kubelet",
        software="kube-downscaler: hjacobs/kube-downscaler "
        "kube_downscaler/scaler.py",
        says="kube-downscaler scales a Deployment to zero for the night. "
        "Eight seconds later the kubelet of the node dies, and systemd starts "
        "it again; its containers go on.",
        questions=[
            asked(
                "kd-1",
                "kubelet_restart",
                (9,),
                planned=False,
                jobs=[
                    job("Job/train/soak", 4, "survived"),
                    job("Deployment/serve/office", 1, "survived"),
                ],
                not_hit=["serve/office", "train/soak"],
                must_not_say=["reboot", "planned", "kube-downscaler"],
            )
        ],
    ),
    Truth(
        name="f13_culled_then_crash",
        software="JupyterHub: jupyterhub/kubespawner kubespawner/spawner.py; "
        "jupyterhub/jupyterhub-idle-culler",
        says="JupyterHub deletes the idle server of ana, a Pod of no owner. "
        "Nine seconds later the machine dies by itself, with the server of "
        "ben and with a Job.",
        questions=[
            asked(
                "jc-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/kb",
                        4,
                        "restarted",
                        "rescheduled",
                        lost_on=["jc-1"],
                    ),
                    job(
                        "Pod/hub/jupyter-ben",
                        1,
                        "down",
                        "still_down",
                        "failed",
                        lost_on=["jc-1"],
                    ),
                ],
                not_hit=["hub/jupyter-ana"],
                never_list=["hub/jupyter-ana"],
                must_not_say=["JupyterHub", "planned"],
            )
        ],
    ),
    Truth(
        name="f14_ekco_purges_the_dead",
        software="EKCO of kURL: replicatedhq/ekco pkg/cluster/purge_node.go",
        says="A machine dies by itself and stays off. EKCO, which finds it "
        "unreachable for too long, deletes its Node. No audit: who deleted "
        "the Node is in no record.",
        questions=[
            asked(
                "ek-1",
                "removed",
                (15, 2, 3, 5, 9, 12, 16),
                planned=None,
                jobs=[
                    job(
                        "Job/train/nerf",
                        8,
                        "rescheduled",
                        "restarted",
                        lost_on=["ek-1"],
                    )
                ],
                not_hit=["train/keep"],
                must_not_say=["a person", "scale-down"],
                missing_evidence=["who deleted the Node"],
            ),
            asked(
                "ek-2",
                "none",
                planned=False,
                jobs=[job("Job/train/keep", 0, "survived")],
                may_list=["train/nerf"],
            ),
        ],
    ),
    Truth(
        name="f15_two_boots",
        software="Kubernetes",
        says="A machine dies by itself and boots. Its Job runs there again "
        "when it dies a second time, and boots again.",
        questions=[
            asked(
                "tb-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(2, 3),
                stopped=("crash 2", "boot 2"),
                jobs=[
                    job("Job/train/bert2", 8, "restarted", lost_on=["tb-1"])
                ],
                must_not_say=["planned"],
            ),
        ],
    ),
    Truth(
        name="f16_no_controller_manager",
        software="kube-controller-manager: kubernetes/kubernetes "
        "pkg/controller/nodelifecycle",
        says="The controller manager is down when a machine dies by itself, "
        "so that its Node stays Ready; the machine boots, and only then the "
        "controller manager is started again.",
        questions=[
            asked(
                "md-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/seqgan",
                        8,
                        "restarted",
                        lost_on=["md-1"],
                    )
                ],
                must_not_say=["planned", "control plane outage as the cause"],
            ),
            asked(
                "md-2",
                "none",
                planned=False,
                jobs=[job("Job/train/calm", 8, "survived")],
            ),
        ],
    ),
    Truth(
        name="f17_less_memory_after",
        software="Kubernetes; firmware that disables a memory module",
        says="A machine dies by itself, and boots with 256 GiB less memory "
        "than before; its Job returns. Nothing says what failed.",
        questions=[
            asked(
                "mm-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/clm",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["mm-1"],
                    )
                ],
                must_not_say=["another machine", "planned"],
            )
        ],
    ),
    Truth(
        name="f18_kinds_without_rules",
        software="Flyte: flyteorg/flyte flytepropeller "
        "(flyteworkflow of flyte.lyft.com); Argo Workflows: "
        "argoproj/argo-workflows; CloneSet: openkruise/kruise",
        says="A machine dies by itself with Pods of a flyteworkflow, a "
        "Workflow and a CloneSet, whose controllers create them again, under "
        "other names, on the other node.",
        questions=[
            asked(
                "kw-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "flyteworkflow/train/f3a9c27d",
                        2,
                        "rescheduled",
                        "restarted",
                        lost_on=["kw-1"],
                    ),
                    job(
                        "Workflow/train/etl-x7k2p",
                        2,
                        "rescheduled",
                        "restarted",
                        lost_on=["kw-1"],
                    ),
                    job(
                        "CloneSet/serve/edge",
                        2,
                        "rescheduled",
                        "restarted",
                        lost_on=["kw-1"],
                    ),
                ],
                must_not_say=["planned"],
            )
        ],
    ),
)

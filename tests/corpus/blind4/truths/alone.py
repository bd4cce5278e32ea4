"""What is true of nodes about which no one decided, or no one on record."""

from tests.corpus.blind.truth import ABRUPT, Truth, asked, job

__all__ = ["ALONE"]

ALONE = (
    Truth(
        name="e07_argocd_prunes_then_crash",
        software="Argo CD: argoproj/gitops-engine pkg/sync/sync_context.go, "
        "argoproj/argo-cd",
        says="Argo CD prunes a Job that is no longer in Git, whose Pod leaves "
        "the node; nine seconds later the machine dies by itself.",
        questions=[
            asked(
                "ar-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/pretrain",
                        4,
                        "restarted",
                        "rescheduled",
                        lost_on=["ar-1"],
                    )
                ],
                not_hit=["train/old-sweep"],
                never_list=["train/old-sweep"],
                must_not_say=["Argo CD", "planned"],
            )
        ],
    ),
    Truth(
        name="e14_podmon_cleans_up",
        software="Dell CSM resiliency, podmon: dell/karavi-resiliency "
        "internal/monitor/controller.go",
        says="A machine dies by itself. podmon taints its Node, records it on "
        "the Pod of a StatefulSet, and deletes that by force, so that it "
        "comes back elsewhere. The machine boots, podmon removes its taint.",
        questions=[
            asked(
                "pm-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "StatefulSet/store/vectors",
                        1,
                        "rescheduled",
                        "restarted",
                        lost_on=["pm-1"],
                    )
                ],
                must_not_say=["podmon as the cause", "planned"],
            )
        ],
    ),
    Truth(
        name="e15_unattended_kernel",
        software="unattended-upgrades: mvo5/unattended-upgrades "
        "(Automatic-Reboot); kubectl label",
        says="ulf labels a node. Fifteen seconds later the machine reboots "
        "into another kernel, because unattended-upgrades on the host wanted "
        "it; nothing in the cluster asked for it or says so.",
        questions=[
            asked(
                "ua-1",
                "reboot",
                (10,),
                planned=None,
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/asr",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["ua-1"],
                    )
                ],
                must_not_say=["ulf"],
                missing_evidence=["the host's own log: who rebooted it"],
            )
        ],
    ),
    Truth(
        name="e16_vm_paused",
        software="Kubernetes; a hypervisor that pauses a virtual machine",
        says="A hypervisor pauses a virtual machine for half a minute. Its "
        "Node is Unknown, and comes back with the same boot; its Pods went "
        "on and stayed. Nothing in the cluster says why.",
        questions=[
            asked(
                "hv-1",
                "unreachable",
                (9, 12, 16),
                planned=False,
                stopped=("pause", "resume"),
                jobs=[job("Job/train/tts", 8, "survived")],
                must_not_say=["reboot", "planned"],
            ),
            asked("hv-2", "none", planned=False),
        ],
    ),
    Truth(
        name="e17_api_server_restarts",
        software="kube-apiserver: kubernetes/kubernetes",
        says="The API server is down for seven seconds. No kubelet stops, no "
        "Pod is lost, no Node becomes Unknown.",
        questions=[
            asked(
                "ap-1",
                "none",
                planned=False,
                jobs=[job("Job/train/bert", 8, "survived")],
                must_not_say=["reboot", "kubelet restart"],
            ),
            asked("ap-2", "none", planned=False),
        ],
    ),
    Truth(
        name="e18_preempted_then_crash",
        software="preemption by kube-scheduler: kubernetes/kubernetes "
        "pkg/scheduler/framework/preemption/preemption.go",
        says="The scheduler preempts the Pod of a Job for one of higher "
        "priority; ten seconds after that runs the machine dies by itself.",
        questions=[
            asked(
                "pr-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/background",
                        8,
                        "preempted",
                        "evicted",
                        lost_on=["pr-1"],
                    ),
                    job(
                        "Job/train/urgent",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["pr-1"],
                    ),
                ],
                must_not_say=["preemption as the cause", "planned"],
            ),
        ],
    ),
    Truth(
        name="e20_sciuro_blind_then_crash",
        software="sciuro: cloudflare/sciuro internal/node/reconciler.go",
        says="Alertmanager cannot be reached, so sciuro sets the conditions "
        "that it keeps on all nodes to Unknown (AlertsUnavailable). Ten "
        "seconds later one of the machines dies by itself.",
        questions=[
            asked(
                "sc-1",
                "none",
                planned=False,
                jobs=[job("Job/train/ocr", 8, "survived")],
                must_not_say=["unreachable"],
            ),
            asked(
                "sc-2",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/nmt",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["sc-2"],
                    )
                ],
                not_hit=["train/ocr"],
                must_not_say=["sciuro", "an alert as the cause", "planned"],
            ),
        ],
    ),
    Truth(
        name="e21_reboot_behind_outage",
        software="kube-apiserver: kubernetes/kubernetes",
        says="While the API server is down for ten seconds one machine dies "
        "by itself; it boots as soon as the API server is back, before its "
        "Node is given up. Its neighbour runs on.",
        questions=[
            asked(
                "be-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/dpo",
                        8,
                        "restarted",
                        "rescheduled",
                        lost_on=["be-1"],
                    )
                ],
                not_hit=["train/ppo"],
                must_not_say=["planned"],
            ),
            asked(
                "be-2",
                "none",
                planned=False,
                jobs=[job("Job/train/ppo", 8, "survived")],
            ),
        ],
    ),
    Truth(
        name="e22_clock_ahead_kubelet",
        software="Kubernetes; a machine whose clock is 25 minutes ahead",
        says="A kubelet dies and is started again at once by systemd on a "
        "machine with a wrong clock; its containers go on.",
        edited="the clock of cl-1 is moved 25 minutes ahead",
        questions=[
            asked(
                "cl-1",
                "kubelet_restart",
                (9,),
                planned=False,
                skew_seconds=1500,
                jobs=[job("Job/train/gan", 8, "survived")],
                must_not_say=["reboot", "planned"],
            )
        ],
    ),
    Truth(
        name="e24_viola_deletes_then_crash",
        software="kubectl delete pod: kubernetes/kubectl",
        says="viola deletes the Pod of one Job, which comes back on another "
        "node; nine seconds later the machine dies by itself with the Pod of "
        "another.",
        audit=True,
        questions=[
            asked(
                "vi-1",
                "reboot",
                ABRUPT,
                planned=False,
                boots=(1, 2),
                stopped=("crash", "boot"),
                jobs=[
                    job(
                        "Job/train/unet",
                        4,
                        "restarted",
                        "rescheduled",
                        lost_on=["vi-1"],
                    )
                ],
                may_list=["train/eval"],
                must_not_say=["viola", "planned"],
            )
        ],
    ),
)

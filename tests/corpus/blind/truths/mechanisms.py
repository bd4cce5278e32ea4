"""Truths of incidents by Kubernetes' own mechanisms, and of gaps."""

from tests.corpus.blind.truth import ABRUPT, REBOOT_ORDERED, Truth, asked, job

__all__ = ["MECHANISMS"]

TAINTED = ("DeletionByTaintManager, exit 255",)


MECHANISMS = (
    Truth(
        name="b12_graceful_shutdown",
        software="graceful node shutdown: kubernetes/kubernetes "
        "pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go",
        says="The kubelet sees a shutdown, ends its Pods and reports itself "
        "not ready; the machine boots. Who asked for it is not recorded.",
        questions=[
            asked(
                "gs-2",
                "reboot",
                REBOOT_ORDERED,
                planned=None,
                boots=(1, 2),
                stopped=["shutdown", "boot"],
                must_not_say=["kernel panic", "power loss"],
                missing_evidence=["who shut the machine down"],
                jobs=[
                    job(
                        "Job/train/diffusion",
                        16,
                        "restarted",
                        "evicted",
                        how=("TerminationByKubelet",),
                        lost_on=["gs-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b13_out_of_service",
        software="non-graceful node shutdown: kubernetes/kubernetes "
        "pkg/controller/podgc/gc_controller.go",
        says="A machine dies and stays off; a person taints the Node "
        "out-of-service afterwards, which ends its Pods.",
        audit=True,
        questions=[
            asked(
                "oo-2",
                "unreachable",
                (3, 5, 12),
                planned=False,
                stopped=["crash", None],
                must_not_say=["nadia stopped it", "planned"],
                missing_evidence=["why the machine stopped"],
                jobs=[
                    job(
                        "Job/train/bert",
                        16,
                        "still_down",
                        "evicted",
                        how=("DeletionByTaintManager",),
                        lost_on=["oo-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b17_disk_pressure",
        software="node-pressure eviction: kubernetes/kubernetes "
        "pkg/kubelet/eviction/eviction_manager.go",
        says="The kubelet evicts a Pod for disk pressure; the node stays.",
        questions=[
            asked(
                "dp-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "drain"],
                jobs=[
                    job(
                        "Job/train/prep",
                        4,
                        "evicted",
                        "restarted",
                        "rescheduled",
                        "failed",
                        how=("TerminationByKubelet, exit 137",),
                        lost_on=["dp-2"],
                    )
                ],
                not_hit=["train/llm"],
            )
        ],
    ),
    Truth(
        name="b18_gap_reboot",
        software="Kubernetes; the recorder was disconnected",
        says="A machine reboots while nothing is recorded.",
        edited="frames between two acts removed, then everything listed",
        questions=[
            asked(
                "gr-2",
                "reboot",
                ABRUPT,
                planned=None,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned", "coverage is complete"],
                missing_evidence=["everything between the acts"],
                jobs=[
                    job(
                        "Job/train/clip",
                        16,
                        "restarted",
                        "evicted",
                        lost_on=["gr-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b19_gap_replaced",
        software="Kubernetes; the recorder was disconnected",
        says="While nothing is recorded a Node is deleted and another machine "
        "registers under its name.",
        edited="frames between two acts removed, then everything listed",
        questions=[
            asked(
                "gp-2",
                "replaced",
                (15,),
                planned=None,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["the same machine", "coverage is complete"],
                missing_evidence=["who deleted the Node"],
                jobs=[
                    job(
                        "Job/train/whisper",
                        16,
                        "restarted",
                        "evicted",
                        "rescheduled",
                        lost_on=["gp-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
    Truth(
        name="b20_webhook_refuses_leases",
        software="ValidatingWebhookConfiguration with failurePolicy Fail: "
        "kubernetes/kubernetes issue 90217",
        says="A webhook whose server is not reachable refuses the leases and "
        "the status of all kubelets. Every node is Unknown, none stopped.",
        audit=True,
        questions=[
            asked(
                node,
                "unreachable",
                (17, 12, 9),
                planned=False,
                stopped=["refused", "allowed"],
                trigger="carol applied a webhook that refuses what nodes send",
                must_not_say=["reboot", "crash", "power loss"],
                jobs=[job("Job/train/long", 24, "survived", gang=3)],
                may_list=["train/long"],
            )
            for node in ("wh-1", "wh-2")
        ],
    ),
    Truth(
        name="b21_certificate_expired",
        software="kubelet client certificate: kubernetes/kubernetes "
        "issue 106499",
        says="A kubelet's certificate is not accepted any more; its requests "
        "get 401 until it has another. Its containers go on.",
        audit=True,
        questions=[
            asked(
                "ce-2",
                "unreachable",
                (9, 12),
                planned=False,
                stopped=["expired", "renewed"],
                must_not_say=["reboot", "power loss"],
                jobs=[job("Job/train/ctc", 16, "survived", gang=2)],
            )
        ],
    ),
    Truth(
        name="b30_kubelet_dies",
        software="systemd restarts a kubelet: kubernetes/release "
        "cmd/krel/templates/latest/kubelet/kubelet.service",
        says="A kubelet is killed and systemd starts it ten seconds later; "
        "nothing records why. Its containers go on.",
        questions=[
            asked(
                "kd-2",
                "kubelet_restart",
                (9,),
                planned=False,
                stopped=["down", "up"],
                must_not_say=["reboot", "planned"],
                missing_evidence=["why the kubelet ended"],
                jobs=[job("Job/train/grpo", 16, "survived", gang=2)],
            )
        ],
    ),
    Truth(
        name="b33_critical_pod_preempts",
        software="preemption by the kubelet: kubernetes/kubernetes "
        "pkg/kubelet/preemption/preemption.go",
        says="The kubelet ends a Pod to admit a critical one; the node stays.",
        questions=[
            asked(
                "cp-2",
                "none",
                planned=False,
                actor=None,
                must_not_say=["reboot", "drain"],
                jobs=[
                    job(
                        "Job/train/embeddings",
                        4,
                        "preempted",
                        "evicted",
                        "restarted",
                        "rescheduled",
                        how=("TerminationByKubelet, exit 137",),
                        lost_on=["cp-2"],
                    )
                ],
                not_hit=["train/calm"],
                may_list=["kube-system/node-agent-cp-2"],
            )
        ],
    ),
    Truth(
        name="b34_system_oom_then_silence",
        software="oom watcher: kubernetes/kubernetes "
        "pkg/kubelet/oom/oom_watcher_linux.go",
        says="The kubelet reports that the system ran out of memory, then the "
        "machine is silent; it boots a minute later. No record connects both.",
        questions=[
            asked(
                "om-2",
                "reboot",
                (8, 3, 5, 16),
                planned=False,
                boots=(1, 2),
                stopped=["crash", "boot"],
                must_not_say=["planned"],
                jobs=[
                    job(
                        "Job/train/tokenize",
                        16,
                        "restarted",
                        "evicted",
                        how=TAINTED,
                        lost_on=["om-2"],
                        gang=2,
                    )
                ],
            )
        ],
    ),
)

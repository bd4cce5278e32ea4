"""What is true where no machine went down, and mostly nothing was wrong."""

from tests.corpus.blind.truth import Truth, asked, job

__all__ = ["QUIET"]

QUIET = (
    Truth(
        name="f19_shutdown_cancelled",
        software="graceful node shutdown: kubernetes/kubernetes "
        "pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go",
        says="A kubelet sees that its machine is to be shut down, reports "
        "itself not ready and ends its Pod; the shutdown is cancelled, and "
        "the kubelet is ready again. The machine and the kubelet ran on.",
        questions=[
            asked(
                "sd-1",
                "none",
                planned=None,
                jobs=[
                    job(
                        "Job/train/dino",
                        4,
                        "restarted",
                        "rescheduled",
                        "evicted",
                        lost_on=["sd-1"],
                    )
                ],
                must_not_say=["reboot", "kubelet restart"],
                missing_evidence=["who asked for the shutdown"],
            )
        ],
    ),
    Truth(
        name="f20_gap_moves_a_pod",
        software="Kubernetes; the recorder was disconnected; kubectl drain",
        says="While nothing is recorded kim drains a node and gives it back. "
        "The Job of the node runs on another one afterwards. The machine was "
        "not touched, which its unchanged boot shows.",
        edited="what was watched between gap and heard is removed",
        questions=[
            asked(
                "gm-1",
                "none",
                planned=None,
                jobs=[
                    job(
                        "Job/train/ctc",
                        8,
                        "rescheduled",
                        "restarted",
                        "evicted",
                        lost_on=["gm-1"],
                    )
                ],
                must_not_say=["reboot", "kim"],
                missing_evidence=["what ended the Pod within the gap"],
            )
        ],
    ),
    Truth(
        name="f21_daemonset_rollout",
        software="Kubernetes: kubectl rollout restart daemonset; "
        "kubernetes/kubernetes pkg/controller/daemon/update.go",
        says="uma restarts a DaemonSet, whose Pods are replaced on one node "
        "after the other. Nothing else happens.",
        audit=True,
        questions=[
            asked(
                node,
                "none",
                planned=False,
                jobs=[
                    job(f"Job/train/{name}", 8, "survived"),
                    job("DaemonSet/kube-system/log-agent", 0, "survived"),
                ],
                not_hit=["kube-system/log-agent"],
                must_not_say=["drain", "kubelet restart"],
            )
            for node, name in (("ds-1", "north"), ("ds-2", "south"))
        ],
    ),
    Truth(
        name="f22_nidhogg_taints",
        software="Nidhogg: uswitch/nidhogg pkg/nidhogg/handler.go",
        says="The container of a DaemonSet fails and is started again in its "
        "Pod; meanwhile Nidhogg keeps new Pods away from the node by a taint "
        "NoSchedule. What runs there stays.",
        questions=[
            asked(
                "ng-1",
                "none",
                planned=False,
                jobs=[job("Job/train/lstm", 8, "survived")],
                not_hit=["train/lstm"],
                may_list=["kube-system/node-local-dns"],
                must_not_say=["drain"],
            )
        ],
    ),
    Truth(
        name="f23_tas_labels",
        software="Telemetry Aware Scheduling: intel/platform-aware-scheduling "
        "telemetry-aware-scheduling/pkg/strategies/deschedule/enforce.go",
        says="Telemetry Aware Scheduling labels a node as violating a policy "
        "of temperature, and removes the label twelve seconds later. No "
        "descheduler acts on it; nothing else happens.",
        questions=[
            asked(
                "ts-1",
                "none",
                planned=False,
                jobs=[job("Job/train/bio", 8, "survived")],
                not_hit=["train/bio"],
                must_not_say=["hardware fault", "drain"],
            )
        ],
    ),
    Truth(
        name="f24_lease_deleted_by_vera",
        software="node leases: kubernetes/kubernetes "
        "pkg/kubelet/nodelease, component-helpers/apimachinery/lease",
        says="vera deletes the Lease of a node, and its kubelet creates it "
        "again. The Node stays Ready, and nothing else happens.",
        audit=True,
        questions=[
            asked(
                "ld-1",
                "none",
                planned=False,
                jobs=[job("Job/train/ocr2", 8, "survived")],
                not_hit=["train/ocr2"],
                must_not_say=["unreachable", "kubelet restart"],
            ),
            asked("ld-2", "none", planned=False),
        ],
    ),
    Truth(
        name="f25_clock_steps",
        software="Kubernetes; a machine whose clock steps 90 minutes ahead",
        says="The clock of a machine steps 90 minutes ahead while everything "
        "runs. Its lease carries the new time from then on; nothing else "
        "happens.",
        edited="from step on, the times of the lease and of the Events of "
        "cs-1 are 90 minutes later",
        questions=[
            asked(
                "cs-1",
                "none",
                planned=False,
                jobs=[job("Job/train/yolo", 8, "survived")],
                not_hit=["train/yolo"],
                must_not_say=["unreachable", "reboot"],
            ),
            asked("cs-2", "none", planned=False),
        ],
    ),
)

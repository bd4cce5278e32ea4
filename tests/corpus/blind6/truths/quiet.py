"""What is true where no machine went down."""

from tests.corpus.blind.truth import Truth, asked, job

__all__ = ["QUIET"]

QUIET = (
    Truth(
        name="g21_terraform_taints",
        software="Terraform: hashicorp/terraform-provider-kubernetes "
        "kubernetes/resource_kubernetes_node_taint.go",
        says="yuki applies a plan of Terraform that taints a node NoExecute. "
        "One Job has to leave it, the other tolerates the taint.",
        audit=True,
        questions=[
            asked(
                "tf-1",
                "none",
                (1, 11, 14),
                planned=True,
                actor="yuki",
                jobs=[
                    job(
                        "Job/train/leave",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["tf-1"],
                    ),
                    job("Job/train/stay", 4, "survived"),
                ],
                not_hit=["train/stay"],
                must_not_say=["reboot"],
            )
        ],
    ),
    Truth(
        name="g22_headlamp_noor",
        software="Headlamp: headlamp-k8s/headlamp "
        "frontend/src/components/node/Details.tsx",
        says="noor cordons a node in Headlamp, and uncordons it eight "
        "seconds later. Nothing leaves it.",
        audit=True,
        questions=[
            asked(
                "hl-1",
                "none",
                planned=True,
                actor="noor",
                jobs=[job("Job/train/rnnt", 8, "survived")],
                not_hit=["train/rnnt"],
                must_not_say=["reboot", "drain"],
            )
        ],
    ),
    Truth(
        name="g23_taint_passes_a_budget",
        software="taint eviction: kubernetes/kubernetes "
        "pkg/controller/tainteviction/taint_eviction.go",
        says="gil taints a node NoExecute; the Pod of a Deployment is deleted "
        "although a budget allows no disruption, and starts on another node. "
        "A Job tolerates the taint. No audit: no record has gil.",
        questions=[
            asked(
                "tb-1",
                "none",
                (1, 11, 14),
                planned=True,
                jobs=[
                    job(
                        "Deployment/serve/guarded",
                        1,
                        "rescheduled",
                        "evicted",
                        lost_on=["tb-1"],
                    ),
                    job("Job/train/calm2", 4, "survived"),
                ],
                not_hit=["train/calm2"],
                must_not_say=["reboot", "gil"],
            ),
            asked("tb-2", "none", planned=False, may_list=["serve/guarded"]),
        ],
    ),
    Truth(
        name="g24_kubelet_three_times",
        software="systemd restarts a kubelet: kubernetes/release "
        "cmd/krel/templates/latest/kubelet/kubelet.service",
        says="A kubelet dies three times within half a minute, and systemd "
        "starts it each time; its containers go on.",
        questions=[
            asked(
                "k3-1",
                "kubelet_restart",
                (9,),
                planned=False,
                jobs=[job("Job/train/s2s", 8, "survived")],
                not_hit=["train/s2s"],
                must_not_say=["reboot", "planned"],
            ),
            asked("k3-2", "none", planned=False),
        ],
    ),
    Truth(
        name="g25_kube_green_sleeps",
        software="kube-green: kube-green/kube-green "
        "internal/controller/sleepinfo",
        says="kube-green scales a Deployment to zero for the night. The Job "
        "beside it goes on.",
        questions=[
            asked(
                "kg-1",
                "none",
                planned=False,
                jobs=[
                    job("Deployment/serve/night", 1, "survived"),
                    job("Job/train/day", 4, "survived"),
                ],
                not_hit=["serve/night", "train/day"],
                must_not_say=["reboot", "drain"],
            )
        ],
    ),
)

"""What is true where a person or a program decided about a node."""

from tests.corpus.blind.truth import REBOOT_ORDERED, Truth, asked, job

__all__ = ["ORDERED"]

ORDERED = (
    Truth(
        name="e01_brupop_updates",
        software="Bottlerocket update operator: bottlerocket-os/"
        "bottlerocket-update-operator models/src/node/drain.rs, "
        "models/src/constants.rs",
        says="The API server of brupop cordons a node and evicts its Pods, "
        "the machine reboots into another Bottlerocket, and brupop uncordons "
        "it. Its field manager is 'unknown'; only the audit log has its name.",
        audit=True,
        questions=[
            asked(
                "br-1",
                "reboot",
                (10, 11),
                planned=True,
                actor="brupop",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/dlrm",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["br-1"],
                    )
                ],
                not_hit=["train/whisper"],
                must_not_say=["crash", "an admin"],
            ),
            asked("br-2", "none", planned=False, may_list=["train/whisper"]),
        ],
    ),
    Truth(
        name="e02_metal3_remediates",
        software="Cluster API provider Metal3: metal3-io/"
        "cluster-api-provider-metal3 baremetal/metal3remediation_manager.go",
        says="A kubelet hangs. Metal3 (in another cluster) powers the host "
        "off, deletes the Node with the credentials of the administrator, "
        "and powers it on; the machine joins again. No audit: who deleted "
        "the Node is in no record.",
        questions=[
            asked(
                "mt-1",
                "rejoined",
                (2, 15),
                planned=True,
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/moe",
                        8,
                        "rescheduled",
                        "restarted",
                        lost_on=["mt-1"],
                    )
                ],
                must_not_say=["a person"],
                missing_evidence=["no audit log: who deleted the Node"],
            )
        ],
    ),
    Truth(
        name="e03_cyclops_cycles",
        software="Cyclops: atlassian-labs/cyclops pkg/k8s/node.go, "
        "pkg/controller/cyclenodestatus/transitioner/transitions.go",
        says="Cyclops cordons a node by a JSON patch, evicts its Pods, "
        "deletes the Node and terminates its instance.",
        questions=[
            asked(
                "cy-1",
                "removed",
                (11, 13, 15),
                planned=True,
                actor="cyclops",
                jobs=[
                    job(
                        "Job/train/gnn",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["cy-1"],
                    )
                ],
                must_not_say=["crash"],
            )
        ],
    ),
    Truth(
        name="e04_spot_notice",
        software="kube-spot-termination-notice-handler: "
        "kube-aws/kube-spot-termination-notice-handler entrypoint.sh",
        says="A handler on the node runs kubectl drain because the cloud "
        "takes the instance back; the instance ends, and the cloud's node "
        "lifecycle controller deletes the Node.",
        audit=True,
        questions=[
            asked(
                "sp-1",
                "removed",
                (11, 13, 14, 15),
                planned=True,
                actor="spot-termination-notice",
                jobs=[
                    job(
                        "Job/train/clip",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["sp-1"],
                    )
                ],
                must_not_say=["a person"],
                ideal="drained by the handler of spot notices, then deleted "
                "by the cloud's node lifecycle controller",
            )
        ],
    ),
    Truth(
        name="e05_nic_maintenance_by_hana",
        software="NVIDIA maintenance operator: Mellanox/maintenance-operator "
        "internal/controller/nodemaintenance_controller.go, "
        "internal/cordon/cordon.go",
        says="hana creates a NodeMaintenance of maintenance.nvidia.com for a "
        "node; the operator cordons and drains it; the machine is "
        "power-cycled for its NIC; hana deletes the object, and the operator "
        "uncordons.",
        audit=True,
        questions=[
            asked(
                "mn-1",
                "reboot",
                (1, 11, 14),
                planned=True,
                actor="hana",
                executed_by="maintenance-operator",
                asked_through="NodeMaintenance",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/diffusion",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["mn-1"],
                    )
                ],
                must_not_say=["crash", "the operator decided by itself"],
            )
        ],
    ),
    Truth(
        name="e06_oidc_proxy_olga",
        software="kube-oidc-proxy: jetstack/kube-oidc-proxy "
        "pkg/proxy/proxy.go",
        says="olga deletes a Node through kube-oidc-proxy, whose service "
        "account impersonates her; the machine runs on. Its kubelet is "
        "started again and registers it; its containers went on.",
        audit=True,
        questions=[
            asked(
                "oi-1",
                "rejoined",
                (15,),
                planned=True,
                actor="olga",
                executed_by="kube-oidc-proxy",
                jobs=[job("Job/train/rlhf", 8, "survived")],
                must_not_say=["reboot", "kube-oidc-proxy alone"],
            )
        ],
    ),
    Truth(
        name="e08_failed_then_weekly_reboot",
        software="a CronJob of the company's own that runs kubectl drain: "
        "kubernetes/kubectl pkg/drain/drain.go",
        says="A Job fails for good by its own exit. Ten seconds later the "
        "script of the CronJob weekly-reboot drains the node, the machine "
        "reboots, and the script uncordons it.",
        audit=True,
        questions=[
            asked(
                "wk-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="weekly-reboot",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/sft",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["wk-1"],
                    )
                ],
                not_hit=["train/broken"],
                never_list=["train/broken"],
                must_not_say=["crash", "the failed Job"],
            )
        ],
    ),
    Truth(
        name="e09_petra_then_spicerack",
        software="Spicerack: wikimedia/operations-software-spicerack "
        "spicerack/k8s.py; kubectl drain: kubernetes/kubectl",
        says="petra drains a node and gives it back without doing anything. "
        "Ten seconds later a cookbook of Spicerack cordons it, evicts its "
        "Pods, reboots it, and uncordons it.",
        audit=True,
        questions=[
            asked(
                "wm-1",
                "reboot",
                REBOOT_ORDERED,
                planned=True,
                actor="spicerack",
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/mamba",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["wm-1"],
                    ),
                    job(
                        "Deployment/serve/router",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        lost_on=["wm-1"],
                    ),
                ],
                must_not_say=["petra as the one who rebooted it", "crash"],
            ),
        ],
    ),
    Truth(
        name="e13_turndown",
        software="Cluster Turndown: kubecost/cluster-turndown "
        "pkg/cluster/draininator.go, pkg/turndown/strategy",
        says="Cluster Turndown cordons a node, evicts its Pods, and sets the "
        "size of its node group to zero; the instance ends, and the cloud's "
        "node lifecycle controller deletes the Node.",
        questions=[
            asked(
                "td-1",
                "removed",
                (13, 15),
                planned=True,
                actor="turndown",
                jobs=[
                    job(
                        "Job/train/vit",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["td-1"],
                    )
                ],
                must_not_say=["crash", "a person"],
                ideal="drained by cluster-turndown, then deleted by the "
                "cloud's node lifecycle controller",
            )
        ],
    ),
    Truth(
        name="e25_gap_hides_the_drain",
        software="Kubernetes; the recorder was disconnected; kubectl drain",
        says="While nothing is recorded sam drains a node. After that the "
        "machine is power-cycled and he uncordons it, which is recorded. No "
        "audit: that it was ordered can be concluded, by whom cannot.",
        edited="nothing was watched from 'gap' to 'heard'",
        questions=[
            asked(
                "gp-1",
                "reboot",
                (1, 11, 14),
                planned=True,
                boots=(1, 2),
                stopped=("off", "boot"),
                jobs=[
                    job(
                        "Job/train/seg",
                        8,
                        "rescheduled",
                        "evicted",
                        lost_on=["gp-1"],
                    )
                ],
                must_not_say=["sam", "crash"],
                missing_evidence=["the gap", "no audit log"],
            )
        ],
    ),
)

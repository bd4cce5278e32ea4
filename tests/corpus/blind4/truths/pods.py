"""What is true where Pods were ended and the node stayed."""

from tests.corpus.blind.truth import Truth, asked, job

__all__ = ["PODS"]

PODS = (
    Truth(
        name="e10_falco_talon_drains",
        software="Falco Talon: falcosecurity/falco-talon "
        "actionners/kubernetes/cordon, actionners/kubernetes/drain/drain.go",
        says="Falco Talon cordons a node and evicts its Pods because of an "
        "alert of Falco; the node stays ready, and cordoned.",
        questions=[
            asked(
                "ft-1",
                "none",
                (2, 11, 14),
                planned=True,
                actor="falco-talon",
                jobs=[
                    job(
                        "Job/train/cv",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["ft-1"],
                    ),
                    job(
                        "Deployment/serve/embed",
                        1,
                        "rescheduled",
                        "evicted",
                        "restarted",
                        lost_on=["ft-1"],
                    ),
                ],
                must_not_say=["reboot", "a person"],
            )
        ],
    ),
    Truth(
        name="e11_autopilot_appwrapper",
        software="Autopilot: IBM/autopilot (gpuhealth=EVICT after DCGM level "
        "3); AppWrapper: project-codeflare/appwrapper "
        "internal/controller/appwrapper/node_health_monitor.go, "
        "site/_pages/arch-fault-tolerance.md",
        says="Autopilot labels a node EVICT after a diagnosis of its GPUs. "
        "AppWrapper's controller resets the AppWrapper that uses it: it "
        "deletes its Job, and creates it again on other nodes. No node goes "
        "down.",
        questions=[
            asked(
                "au-1",
                "none",
                (2, 4),
                planned=True,
                actor="appwrapper",
                jobs=[
                    job(
                        "AppWrapper/train/llm-ft",
                        16,
                        "rescheduled",
                        "restarted",
                        "evicted",
                        lost_on=["au-1", "au-2"],
                        gang=2,
                    )
                ],
                must_not_say=["reboot"],
            ),
        ],
    ),
    Truth(
        name="e12_chaoskube",
        software="chaoskube: linki/chaoskube chaoskube/chaoskube.go",
        says="chaoskube deletes a Pod of a Deployment, and records it on the "
        "Pod with the reason Killing; another Pod is created. The node "
        "stays, and so does what else runs there.",
        questions=[
            asked(
                "ck-1",
                "none",
                planned=True,
                actor="chaoskube",
                jobs=[
                    job(
                        "Deployment/serve/chat",
                        1,
                        "restarted",
                        "rescheduled",
                        "evicted",
                        lost_on=["ck-1"],
                    ),
                    job("Job/train/lora", 4, "survived"),
                ],
                must_not_say=["the kubelet killed it"],
            )
        ],
    ),
    Truth(
        name="e19_hami_handshake",
        software="HAMi: Project-HAMi/HAMi pkg/device/nvidia, "
        "pkg/scheduler/scheduler.go (hami.io/node-handshake)",
        says="HAMi's device plugin on a node does not answer for a while; "
        "HAMi's scheduler writes Requesting, then Deleted, to an annotation "
        "of the Node, until the plugin reports again. Nothing else happens.",
        questions=[
            asked(
                "ha-1",
                "none",
                planned=False,
                jobs=[job("Job/train/vae", 8, "survived")],
                must_not_say=["GPUs lost", "deleted"],
            )
        ],
    ),
    Truth(
        name="e23_katalyst_evicts",
        software="Katalyst: kubewharf/katalyst-core "
        "pkg/agent/evictionmanager/podkiller/killer.go",
        says="Katalyst's agent evicts one Pod of a node for memory, and "
        "records it on the Pod; the node stays, and so does what else runs "
        "there.",
        audit=True,
        questions=[
            asked(
                "ka-1",
                "none",
                planned=True,
                actor="katalyst",
                jobs=[
                    job(
                        "Deployment/serve/offline",
                        1,
                        "restarted",
                        "rescheduled",
                        "evicted",
                        lost_on=["ka-1"],
                    ),
                    job("Job/train/rank", 4, "survived"),
                ],
                must_not_say=["the kubelet"],
            )
        ],
    ),
    Truth(
        name="e26_work_agent_taints",
        software="Open Cluster Management, work agent: "
        "open-cluster-management-io/ocm, the work agent, spoke/apply",
        says="The work agent applies a taint NoExecute to a Node from a "
        "ManifestWork of the hub, which evicts the Pod that does not "
        "tolerate it. What tolerates it stays, and so does the node.",
        questions=[
            asked(
                "oc-1",
                "none",
                (1, 2, 11, 14),
                planned=True,
                actor="work-agent",
                jobs=[
                    job(
                        "Job/train/rec",
                        4,
                        "rescheduled",
                        "evicted",
                        lost_on=["oc-1"],
                    ),
                    job("Job/train/burn-in", 4, "survived"),
                ],
                not_hit=["train/burn-in"],
                must_not_say=["unreachable"],
            )
        ],
    ),
)

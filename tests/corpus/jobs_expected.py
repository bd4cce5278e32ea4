# ruff: noqa: E501 - one row, one line
"""What is true of each job of the live, odd and blind incidents.

Written by hand from the truth files, before the answers were looked at: what
ended it on a node, its state at the end of the record, who decided that, and
what took its place.
"""

from typing import Final, NamedTuple

__all__ = ["EXPECTED", "Expected"]


class Expected(NamedTuple):
    """What is true of a job that lost Pods on a node, or survived there."""

    tape: str
    job: str
    node: str

    ended_by: str
    """Words for causes: any of them is right; ``-`` if it survived."""

    states: str
    author: str | None = None
    """Part of a name; null is right too where no audit log was recorded."""

    preemptor: str | None = None


NODE, EMPTIED = "node-failure", "drain eviction"
REMOVED = "drain eviction deletion node-failure"
"""Its Pods were deleted by who emptied the node, and not evicted."""

BACK, AWAY, OVER = "running", "down pending", "down failed deleted"
HALF = "degraded"
"""Not back, and other members still run."""

EXPECTED: Final = [
    Expected(*row)
    for row in (
        ("b01_cke_reboot_queue", "deployment/serve/embed", "ck-2", EMPTIED, BACK, "cke"),
        ("b02_kairos_nodeop", "job/train/asr", "ka-2", REMOVED, BACK, "kairos"),
        ("b03_fleetlock_zincati", "job/train/rl", "fl-1", EMPTIED, BACK, "fleetlock"),
        ("b04_k0s_autopilot", "deployment/serve/rank", "k0-2", EMPTIED, BACK, "k0s"),
        ("b05_magnum_auto_healer", "minicluster/hpc/lammps", "mg-2", NODE, BACK),
        ("b06_kube_fencing", "job/train/vit", "kf-2", NODE, BACK),
        ("b07_escalator_scale_down", "deployment/serve/thumbs", "es-3", REMOVED, BACK),
        ("b08_longhorn_node_down", "statefulset/db/vectors", "lh-2", NODE, BACK),
        ("b09_keiko_rolling_upgrade", "job/train/tts", "kk-3", EMPTIED, BACK, "upgrade-manager"),
        ("b10_node_undertaker", "job/train/gnn", "nu-2", NODE, HALF),
        ("b11_instance_gone", "job/train/moe", "ig-2", NODE, HALF),
        ("b12_graceful_shutdown", "job/train/diffusion", "gs-2", NODE, BACK),
        ("b13_out_of_service", "job/train/bert", "oo-2", NODE, HALF),
        ("b14_node_shell_reboot", "job/train/mamba", "ns-2", NODE, BACK),
        ("b15_budget_then_no_eviction", "deployment/serve/chat", "pd-2", REMOVED, BACK, "omar"),
        ("b16_kubelet_restart_by_erin", "job/train/dpo", "ke-2", "-", BACK),
        ("b17_disk_pressure", "job/train/prep", "dp-2", "node-failure eviction", f"{BACK} {AWAY}", "kubelet"),
        ("b18_gap_reboot", "job/train/clip", "gr-2", NODE, BACK),
        ("b19_gap_replaced", "job/train/whisper", "gp-2", NODE, BACK),
        ("b20_webhook_refuses_leases", "job/train/long", "wl-1", "-", BACK),
        ("b21_certificate_expired", "job/train/ctc", "ce-2", "-", BACK),
        ("b22_nic_swap_and_neighbour", "flinkdeployment/flink/clicks", "nc-2", EMPTIED, BACK, "yuki"),
        ("b22_nic_swap_and_neighbour", "job/train/sft", "nc-3", NODE, BACK),
        ("b23_odd_owners", "taskrun/ci/unit-tests-r4x", "od-2", NODE, OVER),
        ("b23_odd_owners", "ephemeralrunner/arc/gpu-runner-x7", "od-2", NODE, BACK),
        ("b23_odd_owners", "virtualmachineinstance/vms/desk-7", "od-2", NODE, OVER),
        ("b24_yunikorn_preempts", "job/train/low", "yk-2", "preemption", AWAY, "yunikorn", "Job train/high"),
        ("b25_cilium_upgrade_then_crash", "job/train/yolo", "ci-2", NODE, BACK),
        ("b26_rollout_then_crash", "job/train/sam", "rc-2", NODE, BACK),
        ("b27_clock_ahead", "job/train/nerf", "ca-2", NODE, BACK),
        ("b28_cancelled_then_crash", "pod/team-a/armada-01j9x8-0", "ar-2", NODE, OVER),
        ("b29_node_deleted_by_pablo", "job/train/sdxl", "dn-2", NODE, HALF),
        ("b30_kubelet_dies", "job/train/grpo", "kd-2", "-", BACK),
        ("b31_failed_then_drained", "job/train/kto", "fd-2", EMPTIED, BACK, "quinn"),
        ("b32_kubectl_sudo", "job/train/jepa", "su-2", EMPTIED, BACK, "rita"),
        ("b33_critical_pod_preempts", "job/train/embeddings", "cp-2", "preemption", f"{BACK} {AWAY}"),
        ("b34_system_oom_then_silence", "job/train/tokenize", "om-2", NODE, BACK),
        ("s01_karpenter", "job/research/probe-b", "strange-sinoussi-2192014877", "-", BACK),
        ("s01_karpenter", "job/research/probe-a", "mystifying-poitras-1605002025", EMPTIED, BACK, "karpenter"),
        ("s02_kueue_preempts", "job/shared/distill", "kz-1", "preemption", f"{AWAY} suspended", None, "Deployment shared/chat-api"),
        ("s02_kueue_preempts", "job/shared/distill", "kz-2", "preemption", f"{AWAY} suspended", None, "Deployment shared/chat-api"),
        ("s03_lws_group", "leaderworkerset/serving/deepseek", "iw-1", NODE, BACK),
        ("s04_nth_spot_and_maintenance", "job/llm/dpo-7b", "ip-10-0-3-78", EMPTIED, BACK, "node-termination-handler"),
        ("s04_nth_spot_and_maintenance", "job/llm/sft-7b", "ip-10-0-3-77", EMPTIED, BACK, "node-termination-handler"),
        ("s05_taint_noexecute", "job/tts/prosody", "tx-11", EMPTIED, BACK, "alice"),
        ("s05_taint_noexecute", "job/tts/voice-pretrain", "tx-11", "-", BACK),
        ("s05_taint_noexecute", "job/tts/prosody", "tx-12", "-", BACK),
        ("s05_taint_noexecute", "job/tts/voice-pretrain", "tx-12", "-", BACK),
        ("s06_blocked_drain_then_power", "job/rank/two-tower", "pd-7", EMPTIED, BACK, "alice"),
        ("s06_blocked_drain_then_power", "job/rank/reranker", "pd-7", NODE, BACK),
        ("s06_blocked_drain_then_power", "deployment/rank/feature-api", "pd-7", NODE, BACK),
        ("s07_delete_while_running", "job/weather/graphcast", "dl-2", "-", BACK),
        ("s08_node_maintenance", "job/chem/md-sim", "nm-1", EMPTIED, BACK, "alice"),
        ("s08_node_maintenance", "deployment/chem/viewer", "nm-1", EMPTIED, BACK, "alice"),
        ("s09_clock_ahead", "job/climate/sfno", "ck-1", EMPTIED, BACK, "alice"),
        ("s09_clock_ahead", "job/climate/panguw", "ck-2", NODE, BACK),
        ("s10_two_causes_one_minute", "job/vlm/clip-xl", "mx-02", EMPTIED, BACK, "node-lifecycle-controller"),
        ("s10_two_causes_one_minute", "job/vlm/siglip", "mx-03", NODE, BACK),
        ("s10_two_causes_one_minute", "job/vlm/siglip", "mx-02", "-", BACK),
        ("s11_cordon_and_kured", "job/audio/codec-v2", "kq-1", EMPTIED, BACK, "kured"),
        ("s12_kubelet_restarts", "job/nmt/align-bi", "kb-1", EMPTIED, BACK, "alice"),
        ("s12_kubelet_restarts", "deployment/nmt/tokenizer", "kb-1", EMPTIED, BACK, "alice"),
        ("s13_rolling_upgrade", "job/forecast/ens-1", "os-1", EMPTIED, BACK, "system-upgrade"),
        ("s13_rolling_upgrade", "job/forecast/ens-4", "os-4", NODE, BACK),
        ("s14_oom_then_request", "job/search/colbert", "om-2", EMPTIED, BACK, "alice"),
        ("s14_oom_then_request", "deployment/search/retriever", "om-2", EMPTIED, BACK, "alice"),
        ("s15_flaps_then_request", "job/world/dreamer", "fl-2", EMPTIED, BACK, "bob"),
        ("s16_gap_in_remediation", "job/robot/policy-net", "gp-1", EMPTIED, BACK, "node-lifecycle-controller"),
        ("s17_rack_and_old_cordon", "job/sim/lattice", "hx-r3-1", NODE, BACK),
        ("s17_rack_and_old_cordon", "job/sim/lattice", "hx-r3-2", NODE, BACK),
        ("s18_never_back_force_delete", "statefulset/kv/vector-db", "nv-2", NODE, BACK),
        ("s18_never_back_force_delete", "pod/kv/notebook-ana", "nv-2", NODE, OVER),
        ("s19_lost_before_the_crash", "job/mixed/really-lost", "bz-2", NODE, BACK),
        ("s20_two_persons", "job/gen/flow-match", "tp-1", EMPTIED, BACK, "bob"),
        ("s21_karpenter_expires", "job/eval/sweep", "gifted-swartz-1031918169", EMPTIED, BACK, "alice"),
        ("s22_lost_long_before", "job/mixed/really-lost", "by-2", NODE, BACK),
        ("s23_nhc_partition", "job/fold/af-multimer", "hc-1", NODE, BACK),
        ("t01_descheduler", "job/bal/sweep-a", "ub-1", "-", BACK),
        ("t01_descheduler", "job/bal/sweep-b", "ub-1", "-", BACK),
        ("t01_descheduler", "job/bal/sweep-c", "ub-1", "eviction", BACK, "descheduler"),
        ("t01_descheduler", "deployment/bal/scorer", "ub-1", "-", BACK),
        ("t02_pytorchjob", "pytorchjob/ptj/mamba-2b", "pt-4", NODE, BACK),
        ("t02_pytorchjob", "job/ptj/bpe", "pt-2", "-", BACK),
        ("t03_jobset_two_reasons", "jobset/pre/moe-1t", "js-3", NODE, BACK),
        ("t03_jobset_two_reasons", "jobset/pre/moe-1t", "js-4", EMPTIED, BACK, "alice"),
        ("t03_jobset_two_reasons", "job/pre/quant", "js-5", "-", BACK),
        ("t04a_unknown_controller", "job/gnn/gat-l", "ac-1", EMPTIED, BACK, "steward"),
        ("t04b_unknown_controller_no_audit", "job/asr/conformer", "ad-1", EMPTIED, BACK, "steward"),
        ("t04c_unknown_controller_no_object", "job/asr/conformer", "ad-1", EMPTIED, BACK, "steward"),
        ("t05_order_cancelled_then_crash", "job/rec/dlrm-v4", "rf-1", NODE, BACK),
        ("t06_two_controllers_fight", "job/fin/vol-surface", "fg-1", EMPTIED, BACK, "alice"),
        ("t07_annotation_and_impersonating_bot", "job/bio/esm-fold", "jn-1", EMPTIED, BACK, "alice"),
        ("t08_gap_among_kured", "job/geo/tile-net", "kg-1", EMPTIED, BACK, "kured"),
        ("t08_gap_among_kured", "job/geo/tile-net", "kg-3", NODE, BACK),
        ("t09a_apiserver_restart_in_drain", "job/emb/bert-ft", "ar-1", EMPTIED, BACK, "alice"),
        ("t09a_apiserver_restart_in_drain", "job/emb/bert-ft", "ar-2", "-", BACK),
        ("t09a_apiserver_restart_in_drain", "deployment/emb/embedder", "ar-1", EMPTIED, BACK, "alice"),
        ("t09a_apiserver_restart_in_drain", "deployment/emb/embedder", "ar-2", "-", BACK),
        ("t09b_apiserver_restart_compaction_gap", "job/emc/bert-ft", "as-1", EMPTIED, BACK, "alice"),
        ("t09b_apiserver_restart_compaction_gap", "job/emc/bert-ft", "as-2", "-", BACK),
        ("t09b_apiserver_restart_compaction_gap", "deployment/emc/embedder", "as-1", EMPTIED, BACK, "alice"),
        ("t10_other_machine_takes_the_name", "job/rob/act-policy", "nr-1", NODE, BACK, "provisioner"),
        ("t10_other_machine_takes_the_name", "deployment/rob/sim-gw", "nr-1", NODE, BACK, "provisioner"),
        ("t11_partition_heals_before_some", "job/mix/tol-2s", "hp-1", NODE, BACK),
        ("t11_partition_heals_before_some", "job/mix/tol-14s", "hp-1", "-", BACK),
        ("t11_partition_heals_before_some", "job/mix/tol-default", "hp-1", "-", BACK),
        ("t11_partition_heals_before_some", "deployment/mix/tol-zero", "hp-1", NODE, BACK),
        ("t12_preemption_and_failure", "job/mt/mid-train", "pf-2", NODE, BACK),
        ("t12_preemption_and_failure", "job/mt/low-sweep", "pf-3", "preemption", AWAY, None, "Deployment mt/chat-prod"),
        ("t13_own_failures_then_crash", "job/etl/really-hit", "of-2", NODE, BACK),
        ("t13_own_failures_then_crash", "job/etl/just-done", "of-2", "-", "completed"),
        ("t13_own_failures_then_crash", "job/etl/slow-goodbye", "of-2", "deletion", "deleted", "alice"),
        ("t13_own_failures_then_crash", "job/etl/keeps-failing", "of-2", "container-exit", BACK),
        ("t13_own_failures_then_crash", "job/etl/nightly-etl-manual", "of-2", "container-exit", "failed"),
        ("t14_rollouts_during_outage", "job/web/pretrain-s", "ro-1", NODE, BACK),
        ("t14_rollouts_during_outage", "deployment/web/front", "ro-2", "-", BACK),
        ("t14_rollouts_during_outage", "deployment/web/front", "ro-3", "-", BACK),
        ("t14_rollouts_during_outage", "deployment/web/api", "ro-2", "-", BACK),
        ("t14_rollouts_during_outage", "deployment/web/api", "ro-3", "-", BACK),
        ("t15_gpu_driver_upgrade", "job/cv/swin-v2", "dv-1", EMPTIED, BACK, "gpu-operator"),
        ("t16_zone_loses_network", "job/zon/ring", "za-2", NODE, BACK),
        ("t16_zone_loses_network", "job/zon/ring", "za-1", "-", BACK),
        ("t16_zone_loses_network", "job/zon/ring", "za-3", "-", BACK),
        ("t16_zone_loses_network", "job/zon/calm", "zb-1", "-", BACK),
        ("t17_clocks", "job/wx/pangu-s", "cl-2", EMPTIED, BACK, "alice"),
        ("t17_clocks", "job/wx/sfno-l", "cl-1", NODE, BACK),
        ("t18_noise", "job/gen/musicgen", "nz-1", EMPTIED, BACK, "node-lifecycle-controller"),
        ("t18_noise", "job/gen/audiogen", "nz-2", "-", BACK),
        ("t18_noise", "pod/noise/nz-3", "nz-3", "-", BACK),
        ("t19_cluster_autoscaler", "job/tune/hpo-trial", "burst-zl72h", EMPTIED, BACK, "cluster-autoscaler"),
        ("t19_cluster_autoscaler", "job/tune/filler", "burst-zl72h", "deletion", "deleted", "alice"),
        ("t19_cluster_autoscaler", "job/tune/anchor", "sys-1", "-", BACK),
        ("t20_mpijob", "mpijob/hpc/gromacs-x", "mp-1", NODE, BACK),
        ("t20_mpijob", "job/hpc/post", "mp-4", "-", BACK),
        ("t21_kubectl_debug_reboot", "job/ocr/layout-lm", "kd-2", NODE, BACK, "alice"),
        ("t21_kubectl_debug_reboot", "job/ocr/layout-lm", "kd-1", NODE, BACK),
    )
]  # fmt: skip

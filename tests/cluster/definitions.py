"""Definitions of custom kinds with any content."""

from typing import Any

__all__ = ["CRDS", "WORKLOADS_CRD", "definition"]

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def definition(kind: str, group: str, version: str) -> dict[str, Any]:
    """Define a kind whose objects are in namespaces."""
    one = kind.lower()
    names = {
        "kind": kind,
        "plural": f"{one}s",
        "singular": one,
        "listKind": f"{kind}List",
    }
    anything = {
        "type": "object",
        "x-kubernetes-preserve-unknown-fields": True,
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{one}s.{group}",
            "annotations": {
                "api-approved.kubernetes.io": "unapproved, for a test"
            },
        },
        "spec": {
            "group": group,
            "names": names,
            "scope": "Namespaced",
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": anything},
                }
            ],
        },
    }


WORKLOADS_CRD = definition("Workload", "kueue.x-k8s.io", "v1beta1")

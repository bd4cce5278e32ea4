"""Filling templates: each becomes a document of one site and one workload.

What a site adds to the templates, labels, annotations, variables, images, is
put where it would be, in the managed fields too.
"""

import json
import re
from typing import Any

from bench.site import Image, Pool, Site, Workload
from bench.templates import Story

__all__ = ["IMAGES", "filled", "filled_node", "images_of_node"]

Body = dict[str, Any]

SITE = "site.example.com/"
IMAGES = "@images@"
REGISTRY = "registry.example.com/ml/"


def filled(text: str, story: Story, site: Site, workload: Workload) -> str:
    """Return a template's document as one of a workload of a site."""
    text = _renamed(text, story, site, workload)
    made = json.loads(text)
    if made["kind"] == "Event":
        return _compact(made)
    _fill_metadata(made["metadata"], workload)
    managed = _made_by(made["metadata"].get("managedFields", []))
    _fill_fields(managed, workload)
    spec = made.get("spec", {})
    template = spec.get("jobTemplate", {}).get("spec", spec).get("template")
    fields = managed.get("f:spec", {})
    if template is not None:
        _fill_metadata(template["metadata"], workload)
        fields = fields.get("f:jobTemplate", {}).get("f:spec", fields)
        fields = fields.get("f:template", {})
        _fill_fields(fields, workload)
        spec, fields = template["spec"], fields.get("f:spec", {})
    for container in spec.get("containers", ()):
        _fill_container(container, fields, workload)
    return _compact(made)


def _renamed(text: str, story: Story, site: Site, workload: Workload) -> str:
    image, digest, _ = workload.image
    init, init_digest, _ = workload.init_image
    text = re.sub(
        rf'"imageID":"{REGISTRY}(\w+)[^"]*"',
        lambda found: '"imageID":"{}"'.format(
            f"{init.split(':')[0]}@{init_digest}"
            if found[1] == "fetch"
            else f"{image.split(':')[0]}@{digest}"
        ),
        text,
    )
    text = re.sub(rf"{REGISTRY}fetch:[\w.]+", init, text)
    text = re.sub(rf"{REGISTRY}[\w-]+:[\w.]+", image, text)
    text = re.sub(r"(?<=-)[0-9a-f]{8,10}(?=[-\"])", workload.hash, text)
    text = re.sub(rf"\b{story.work}\b", workload.name, text)
    text = re.sub(r"\bml-(train|serve)\b", workload.namespace, text)
    return _of_site(text, site).replace('"research"', f'"{workload.team}"')


def _of_site(text: str, site: Site) -> str:
    text = re.sub(
        rf"{SITE}([a-z-]+)",
        lambda found: f"{site.domain}/{site.keys.get(found[1], found[1])}",
        text,
    )
    return text.replace("registry.example.com", site.registries[0])


def _compact(made: Any) -> str:
    return json.dumps(made, separators=(",", ":"))


def _made_by(managed: list[Body]) -> Body:
    """Return the fields of the creator of the object."""
    for entry in managed:
        if "subresource" not in entry:
            fields: Body = entry["fieldsV1"]
            return fields
    return {}


def _fill_metadata(metadata: Body, workload: Workload) -> None:
    for member, extra in (
        ("labels", workload.labels),
        ("annotations", workload.annotations),
    ):
        if extra and member in metadata:
            metadata[member] = dict(sorted((metadata[member] | extra).items()))


def _fill_fields(fields: Body, workload: Workload) -> None:
    metadata = fields.get("f:metadata", {})
    for member, extra in (
        ("f:labels", workload.labels),
        ("f:annotations", workload.annotations),
    ):
        if member in metadata:
            known = metadata[member] | {f"f:{key}": {} for key in extra}
            metadata[member] = dict(sorted(known.items()))


def _fill_container(container: Body, fields: Body, workload: Workload) -> None:
    variables = workload.variables
    container.setdefault("env", []).extend(
        {"name": name, "value": value} for name, value in variables.items()
    )
    key = f'k:{{"name":"{container["name"]}"}}'
    known = fields.get("f:containers", {}).get(key, {}).get("f:env")
    if known is not None:
        for name in variables:
            each: Body = {".": {}, "f:name": {}, "f:value": {}}
            known[f'k:{{"name":"{name}"}}'] = each


def filled_node(text: str, site: Site, pool: Pool) -> str:
    """Return a template's Node as one of a pool of a site, without images."""
    product, memory = pool.product
    for old, new in (
        ("NVIDIA-H100-80GB-HBM3", product),
        ('"81559"', f'"{memory}"'),
        ("570.172.08", pool.driver),
        ("6.8.0-79-generic", pool.kernel),
        ("Ubuntu 24.04.3 LTS", pool.os_image),
        ('"pool-a"', f'"{pool.name}"'),
        ("fakeRuntime://0.1.0", "containerd://2.1.4"),
        ("kubemark://", f"metal://{pool.domain}/"),
    ):
        text = text.replace(old, new)
    made = json.loads(_of_site(text, site))
    metadata = made["metadata"]
    metadata["labels"] = dict(
        sorted((metadata["labels"] | pool.labels).items())
    )
    fields = _made_by(metadata["managedFields"])
    labels = fields.setdefault("f:metadata", {}).setdefault("f:labels", {})
    labels |= {f"f:{key}": {} for key in pool.labels}
    made["status"]["images"] = IMAGES
    return _compact(made)


def images_of_node(images: list[Image]) -> str:
    """Write the images of a Node, which replace `IMAGES`."""
    return _compact(
        [
            {
                "names": [f"{name.rsplit(':', 1)[0]}@{digest}", name],
                "sizeBytes": size,
            }
            for name, digest, size in images
        ]
    )

"""What one site chooses: names, domains, labels, images, machines.

Everything is drawn from a seed. Two sites share what all sites share, the
labels of GPU operators and the variables of NCCL, and nothing else.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["Pool", "Site", "Workload"]

T = TypeVar("T")
Image = tuple[str, str, int]
"""Repository and tag, digest, bytes."""

_SYLLABLES = (
    "ba be bo ca co da de di do fa fi ga go ha hu jo ka ke ki la le li lo ma"
    " mi mo na ne no pa pe po ra re ri ro sa se si so ta te ti to va ve vi vo"
    " wa we za zo ar el in on ur ix an us en or"
)
SYLLABLES = _SYLLABLES.split()
UNAMBIGUOUS = "bcdfghjklmnpqrstvwxz2456789"
"""What Kubernetes makes suffixes of names from."""

GPUS = (
    ("NVIDIA-H100-80GB-HBM3", "81559"),
    ("NVIDIA-H200", "143771"),
    ("NVIDIA-B200", "183359"),
    ("NVIDIA-A100-SXM4-80GB", "81920"),
    ("NVIDIA-L40S", "46068"),
)
SHARED_VARIABLES = {
    "CUDA_DEVICE_MAX_CONNECTIONS": ("1", "8", "32"),
    "NCCL_TIMEOUT": ("600", "1800", "3600"),
    "NCCL_IB_TIMEOUT": ("18", "20", "22"),
    "NCCL_IB_QPS_PER_CONNECTION": ("2", "4", "8"),
    "NCCL_P2P_LEVEL": ("NVL", "PXB", "SYS"),
    "NCCL_SOCKET_IFNAME": ("eth0", "bond0", "^lo,docker0"),
    "PYTORCH_CUDA_ALLOC_CONF": ("expandable_segments:True", "backend:native"),
    "PYTHONUNBUFFERED": ("1",),
    "TOKENIZERS_PARALLELISM": ("true", "false"),
    "TRITON_CACHE_DIR": ("/tmp/triton", "/cache/triton"),
    "UCX_NET_DEVICES": ("mlx5_0:1", "mlx5_bond_0:1"),
    "LOG_LEVEL": ("info", "debug", "warning"),
}
_KEYS = (
    "team tenant owner cost-center run node-pool rack leaf-switch asset"
    " remediation remediation-reason remediation-ticket gpu-unhealthy"
)
KEYS = _KEYS.split()
"""Words that the templates use below ``site.example.com``; a site has a word
of its own for each."""
TEAMS = 12
IMAGES = 400
IMAGES_OF_A_NODE = 27


@dataclass(frozen=True, slots=True)
class Pool:
    """Nodes that were bought together."""

    name: str
    product: tuple[str, str]
    driver: str
    kernel: str
    os_image: str
    prefix: str
    domain: str
    labels: dict[str, str]
    images: list[Image]


@dataclass(frozen=True, slots=True)
class Workload:
    """What a team runs again and again."""

    name: str
    namespace: str
    team: str
    image: Image
    init_image: Image
    hash: str
    labels: dict[str, str]
    annotations: dict[str, str]
    variables: dict[str, str]


class Site:
    """One site, from its seed."""

    def __init__(
        self, seed: str, *, pools: int = 6, workloads: int = 120
    ) -> None:
        self.chance = random.Random(f"site {seed}")
        self.domain = f"{self.word(3)}.{self.pick(['io', 'dev', 'net'])}"
        self.keys = {
            word: self.pick([word, self.word(2), f"{self.word(2)}-{word}"])
            for word in KEYS
        }
        self.namespaces = [
            f"{self.pick(['team', 'ml', 'prod', 'ai'])}"
            f"-{self.word(4)}-{self.word(2)}"
            for _ in range(30)
        ]
        self.teams = [self.word(3) for _ in range(TEAMS)]
        self.label_keys = [f"{self.domain}/{self.word(3)}" for _ in range(24)]
        self.variable_names = [
            f"{self.word(2)}_{self.word(3)}".upper() for _ in range(40)
        ]
        self.registries = self._registries()
        self.images = [self._image() for _ in range(IMAGES)]
        self.pools = [self._pool() for _ in range(pools)]
        self.workloads = [self._workload() for _ in range(workloads)]

    def pick(self, choices: Sequence[T]) -> T:
        return self.chance.choice(choices)

    def word(self, syllables: int) -> str:
        return "".join(self.chance.choices(SYLLABLES, k=syllables))

    def suffix(self, length: int = 5) -> str:
        return "".join(self.chance.choices(UNAMBIGUOUS, k=length))

    def hexadecimal(self, length: int) -> str:
        return f"{self.chance.getrandbits(4 * length):0{length}x}"

    def _registries(self) -> list[str]:
        account = self.chance.randrange(10**11, 10**12)
        return [
            f"registry.{self.domain}",
            f"{account}.dkr.ecr.eu-west-1.amazonaws.com/{self.word(3)}",
            f"nvcr.io/{self.word(3)}",
            f"quay.io/{self.word(3)}",
            f"ghcr.io/{self.word(3)}",
        ]

    def _image(self) -> Image:
        chance = self.chance
        version = f"{chance.randrange(9)}.{chance.randrange(40)}"
        tag = self.pick(
            [
                f"v{version}.{chance.randrange(20)}",
                f"{version}-{self.hexadecimal(8)}",
                f"main-{chance.randrange(10**4)}-{self.hexadecimal(7)}",
            ]
        )
        name = f"{self.pick(self.registries)}/{self.word(4)}"
        size = int(chance.lognormvariate(20, 1.5))
        return f"{name}:{tag}", f"sha256:{self.hexadecimal(64)}", size

    def _pool(self) -> Pool:
        chance = self.chance
        minor = chance.randrange(100, 180)
        driver = f"{self.pick([550, 560, 570, 580])}.{minor}.0{minor % 9}"
        patch = chance.randrange(30, 120)
        return Pool(
            name=f"{self.word(2)}-{chance.randrange(10)}",
            product=self.pick(GPUS),
            driver=driver,
            kernel=f"{self.pick(['5.15.0', '6.8.0', '6.11.0'])}-{patch}-x",
            os_image=f"Ubuntu 24.04.{chance.randrange(4)} LTS",
            prefix=f"{self.word(1)}{chance.randrange(10)}-gpu",
            domain=f"{self.word(2)}.{self.word(2)}.{self.domain}",
            labels={
                self.pick(self.label_keys): self.word(3) for _ in range(2)
            },
            images=chance.sample(self.images, 120),
        )

    def _workload(self) -> Workload:
        chance = self.chance
        work = self.pick(["train", "eval", "sft", "serve", "prep", "bench"])
        return Workload(
            name=f"{self.word(3)}-{self.word(4)}-{work}-{chance.randrange(10**5)}",
            namespace=self.pick(self.namespaces),
            team=self.pick(self.teams),
            image=self.pick(self.images),
            init_image=self.pick(self.images),
            hash=self.suffix(10),
            labels={
                self.pick(self.label_keys): self._value()
                for _ in range(chance.randrange(1, 6))
            },
            annotations=self._annotations(),
            variables=self._variables(),
        )

    def _value(self) -> str:
        number = self.chance.randrange(10**6)
        return self.pick(
            [self.word(3), f"{self.word(2)}-{number}", str(number), "true"]
        )

    def _annotations(self) -> dict[str, str]:
        checksum = {"checksum/config": self.hexadecimal(64)}
        notes = {
            f"{self.pick(self.label_keys)}-note": " ".join(
                self.word(self.chance.randrange(1, 4)) for _ in range(8)
            )
            for _ in range(self.chance.randrange(3))
        }
        return notes | (checksum if self.chance.random() < 0.5 else {})

    def _variables(self) -> dict[str, str]:
        shared = self.chance.sample(sorted(SHARED_VARIABLES), 2)
        own = self.chance.sample(self.variable_names, self.chance.randrange(4))
        values = {name: self.pick(SHARED_VARIABLES[name]) for name in shared}
        for name in own:
            url = f"https://{self.word(3)}.{self.domain}/{self.word(2)}"
            path = f"/mnt/{self.word(2)}/{self.word(3)}/{self.word(2)}"
            values[name] = self.pick([url, path, self._value()])
        return values

"""Prometheus itself, with samples of the past, and an exporter to scrape."""

import socket
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import msgspec
import yaml

from tests.support.builders import START
from tests.support.programs import found

__all__ = [
    "STEP",
    "Exporter",
    "Line",
    "answers",
    "has",
    "prometheus_with",
    "scraping",
    "seconds",
    "until",
]

STEP = 15
"""Seconds between scrapes."""

Line = tuple[str, Mapping[str, str], Iterable[tuple[float, float]]]
"""A series: its name, its labels, and its samples, each with the seconds since
the start of the story."""


def described(lines: Iterable[Line]) -> str:
    """Return series in the text format of OpenMetrics."""
    text = []
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        by_name.setdefault(line[0], []).append(line)
    for name, series in by_name.items():
        text.append(f"# TYPE {name} gauge")
        for _, labels, samples in series:
            written = ",".join(f'{k}="{v}"' for k, v in labels.items())
            text += [
                f"{name}{{{written}}} {value} {START.timestamp() + seconds}"
                for seconds, value in samples
            ]
    return "\n".join([*text, "# EOF\n"]) if text else ""


class Exporter:
    """What an exporter on a node says, until it is closed."""

    def __init__(self) -> None:
        self.says: dict[str, float] = {}
        exporter = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                lines = (f"{k} {v}\n" for k, v in exporter.says.items())
                body = "".join(lines).encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self._server.server_port}"
        Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Answer no more."""
        self._server.shutdown()
        self._server.server_close()


def scraping(targets: Mapping[str, str], job: str = "dcgm") -> Any:
    """Return the part of a configuration that scrapes nodes by address."""
    return {
        "job_name": job,
        "scrape_interval": "100ms",
        "scrape_timeout": "100ms",
        "static_configs": [
            {"targets": [address], "labels": {"node": node}}
            for node, address in targets.items()
        ],
    }


@contextmanager
def prometheus_with(
    folder: Path, lines: Iterable[Line] = (), scraped: Sequence[Any] = ()
) -> Iterator[str]:
    """Run it; yield its base URL."""
    data, config = folder / "data", folder / "prometheus.yml"
    if text := described(lines):
        samples = folder / "samples.txt"
        samples.write_text(text)
        words = ("tsdb", "create-blocks-from", "openmetrics", "--quiet")
        subprocess.run([found("promtool"), *words, samples, data], check=True)
    config.write_text(yaml.safe_dump({"scrape_configs": [*scraped]}))
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    base = f"http://127.0.0.1:{port}"
    with subprocess.Popen(
        [
            found("prometheus"),
            f"--config.file={config}",
            f"--storage.tsdb.path={data}",
            "--storage.tsdb.retention.time=50y",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            until(lambda: answers(f"{base}/-/ready") is not None)
            yield base
        finally:
            process.kill()


def answers(url: str) -> bytes | None:
    """Return the body of an answer; None while there is none."""
    try:
        with urlopen(url, timeout=5) as answer:
            body: bytes = answer.read()
            return body
    except OSError:
        return None


def has(url: str, query: str) -> bool:
    """Return whether a Prometheus has something now."""
    body = answers(f"{url}/api/v1/query?{urlencode({'query': query})}")
    return body is not None and bool(
        msgspec.json.decode(body)["data"]["result"]
    )


def seconds() -> float:
    """Return the time, in seconds from the start of every story."""
    return (datetime.now(UTC) - START).total_seconds()


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is the case."""
    deadline = monotonic() + 60
    while not is_so():
        assert monotonic() < deadline, is_so
        sleep(0.05)

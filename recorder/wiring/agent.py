"""The answers for one agent, put together."""

from importlib.util import find_spec

from api.resolvers.workers import Workers
from recorder.explain.knowledge import load
from recorder.model.errors import ConfigError
from recorder.model.settings import Settings
from recorder.wiring.reading import open_logs


class NoAgentsError(ConfigError):
    """What speaks to agents is not installed."""

    code = "config.mcp"
    exit_status = 1


async def answer_agent(settings: Settings) -> None:
    """Answer one agent on standard input and output, until it ends.

    Raises:
        NoAgentsError: the extra is not installed.
        NotFoundError: nothing was ever recorded.
        SchemaError: the database is not this release's.
    """
    if find_spec("mcp") is None:
        msg = "cannot speak the Model Context Protocol: its SDK is missing"
        advice = "pip install 'kube-recorder[mcp]'"
        raise NoAgentsError(msg, advice=advice)
    from api.mcp.server import over_stdio  # noqa: PLC0415 - an extra

    knowledge = load(settings.knowledge)
    async with open_logs(settings) as logs:
        workers = Workers(logs)
        async with workers.running():
            await over_stdio(workers, knowledge)

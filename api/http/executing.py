"""Parses, validates and executes queries.

Parsed texts are cached: dashboards and the page repeat the same queries.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from inspect import isawaitable
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    execute,
    get_operation_ast,
    parse,
    subscribe,
    validate,
)

from api.errors import LimitError, formatted_error
from api.http.columns import ColumnExecutor
from api.http.limits import TOKENS_MAX, check_size
from api.resolvers.context import RequestContext
from api.schema import make_schema

REMEMBERED = 100
"""Queries: those of the page and of a few dashboards. The tree of the largest
one takes about 1 MB; a refused query is cached too."""

ERRORS_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A request of a client."""

    text: str
    variables: Mapping[str, Any] | None = None
    operation: str | None = None


class Refused(Exception):  # noqa: N818 - not an error of ours
    """A query that is not executed, with its errors."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        self.errors = errors
        super().__init__(str(errors[0]))

    def document(self) -> dict[str, Any]:
        """Return the response document."""
        return {"errors": [formatted_error(error) for error in self.errors]}


@dataclass(frozen=True, slots=True)
class Prepared:
    """A valid query."""

    query: Query
    tree: DocumentNode
    is_subscription: bool
    question: str
    """The top-level field, or ``several``."""


class Executor:
    """Executes queries against the schema."""

    def __init__(self) -> None:
        self._schema = make_schema()._schema  # noqa: SLF001 - the only way
        self._read = lru_cache(REMEMBERED)(_reader(self._schema))

    def prepare(self, query: Query) -> Prepared:
        """Parse and validate a query.

        Raises:
            Refused: it cannot be executed.
        """
        tree, errors = self._read(query.text)
        if tree is None:
            raise Refused(errors)
        operation = get_operation_ast(tree, query.operation)
        if operation is None:
            what = (
                "name the operation with operationName: there are several"
                if query.operation is None
                else f'there is no operation "{query.operation}"'
            )
            raise Refused([GraphQLError(what)])
        return Prepared(
            query,
            tree,
            operation.operation is OperationType.SUBSCRIPTION,
            _question(operation),
        )

    async def execute(
        self, prepared: Prepared, asked: RequestContext
    ) -> ExecutionResult:
        """Answer a query."""
        result: ExecutionResult = await self._run(execute, prepared, asked)
        return result

    async def subscribe(
        self, prepared: Prepared, asked: RequestContext
    ) -> AsyncGenerator[ExecutionResult, None]:
        """Begin a subscription.

        Raises:
            Refused: it could not begin.
        """
        found = await self._run(subscribe, prepared, asked)
        if isinstance(found, ExecutionResult):
            raise Refused(list(found.errors or ()))
        stream: AsyncGenerator[ExecutionResult, None] = found
        return stream

    async def _run(
        self,
        operation: Callable[..., Any],
        prepared: Prepared,
        asked: RequestContext,
    ) -> Any:
        """Return what ``execute`` or ``subscribe`` of graphql-core returns."""
        query = prepared.query
        found = operation(
            self._schema,
            prepared.tree,
            context_value=asked,
            variable_values=dict(query.variables or {}),
            operation_name=query.operation,
            executor_class=ColumnExecutor,
        )
        return await found if isawaitable(found) else found


def document_of(result: ExecutionResult) -> dict[str, Any]:
    """Return the response document of an answer."""
    shown: dict[str, Any] = {}
    if result.errors:
        shown["errors"] = [formatted_error(error) for error in result.errors]
    shown["data"] = result.data
    return shown


Read = tuple[DocumentNode | None, list[GraphQLError]]


def _reader(schema: GraphQLSchema) -> Any:
    def read(text: str) -> Read:
        try:
            tree = parse(text, max_tokens=TOKENS_MAX, no_location=False)
            check_size(tree)
        except GraphQLError as error:
            return None, [error]
        except LimitError as error:
            return None, [GraphQLError(str(error), original_error=error)]
        except RecursionError:
            deep = LimitError("the query is too deep")
            return None, [GraphQLError(str(deep), original_error=deep)]
        errors = validate(schema, tree, max_errors=ERRORS_MAX)
        return (None, errors) if errors else (tree, [])

    return read


def _question(operation: OperationDefinitionNode) -> str:
    """Return the top-level field of a valid operation, or ``several``."""
    names = {
        selection.name.value if isinstance(selection, FieldNode) else "several"
        for selection in operation.selection_set.selections
    }
    return names.pop() if len(names) == 1 else "several"

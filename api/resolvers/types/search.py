"""What a search finds."""

from api.resolvers.types.publishing import publish
from recorder.answers.search import SearchAnswer, SearchHit

__all__ = ["SearchAnswer"]

publish(SearchHit)
publish(SearchAnswer)

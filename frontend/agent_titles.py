"""Names of agent systems for people: a run keeps the id of a folder, a bundle's word, or a published agent's id."""

from functools import cache

from django.utils.text import slugify

from benchmark.catalogue import agents
from frontend.published import scores


@cache
def _published() -> dict[str, str]:
    return {slugify(row.agent): row.agent for row in scores().rows}


def agent_title(agent: str) -> str:
    """The title of its folder, else the name a paper prints, else the id itself."""
    known = agents().get(agent)
    return known.title if known else _published().get(agent, agent)


def agents_titled(word: str) -> list[str]:
    """The ids of those whose title holds the word, in any case: what a search for a title must find too."""
    known = {**_published(), **{agent.id: agent.title for agent in agents().values()}}
    return [agent for agent, title in known.items() if word.lower() in title.lower()]

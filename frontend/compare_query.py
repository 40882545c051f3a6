"""What the address of a comparison asks for."""

import re
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from frontend.bad_query import BadQuery

MOST = 8
AXES = ("time", "tokens", "submissions")
SLUG = re.compile(r"[A-Za-z0-9_-]{1,40}")
WORD = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True)
class Asked:
    """Runs to compare, on which task (empty: the one they share), over which axis, with which settings listed."""

    slugs: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    task: str = ""
    x: str = AXES[0]
    all_settings: bool = False

    def link(self, **changes: object) -> str:
        """The address of this comparison with something else."""
        return reverse("compare") + replace(self, **changes).query  # type: ignore[arg-type]  # names are checked there

    @property
    def query(self) -> str:
        told = {"runs": ",".join(self.slugs)} if self.slugs else {}
        told |= {"task": self.task} if self.task else {}
        told |= {"x": self.x} if self.x != AXES[0] else {}
        told |= {"all": "1"} if self.all_settings else {}
        return f"?{urlencode(told, safe=',')}" if told else ""

    @property
    def own(self) -> str:
        return self.link()

    @property
    def axes(self) -> list[tuple[str, str]]:
        return [(x, self.link(x=x)) for x in AXES]

    def without(self, slug: str) -> str:
        return self.link(slugs=tuple(each for each in self.slugs if each != slug))

    def with_run(self, slug: str) -> str:
        return self.link(slugs=(*self.slugs, slug))


def asked_of(query: QueryDict) -> Asked:
    """Raises: BadQuery."""
    given = [slug.strip() for part in query.getlist("runs")[:64] for slug in part[:4000].split(",") if slug.strip()]
    for slug in given:
        if not SLUG.fullmatch(slug):
            raise BadQuery("runs", f"“{slug[:60]}” is no run’s id: letters, digits, - and _, as the run’s page has it.")
    slugs = tuple(dict.fromkeys(given))
    if len(slugs) > MOST:
        mend = Asked(slugs[:MOST]).link()
        raise BadQuery("runs", f"At most {MOST} runs are compared at once; {len(slugs)} were given.", mend)
    x, task = query.get("x", AXES[0]) or AXES[0], query.get("task", "")
    if x not in AXES:
        raise BadQuery("x", f"“{x[:60]}” is no axis: {', '.join(AXES)}.", Asked(slugs).link())
    if task and not WORD.fullmatch(task):
        raise BadQuery("task", f"“{task[:60]}” is no task’s id.", Asked(slugs, x=x).link())
    repeated = tuple(slug for slug in slugs if given.count(slug) > 1)
    return Asked(slugs, repeated, task, x, query.get("all", "") not in ("", "0"))

"""Checkpoints that are Python functions: from a prompt's user message to the text a model would write."""

from collections.abc import Callable, Sequence

from benchmark.tasks.contract import Completion, Item, Outcome, Record
from benchmark.tasks.webshop.evaluator import WebShop

Checkpoint = Callable[[str], str]


def play(item: Item, checkpoint: Checkpoint) -> Record:
    """One episode through the generator contract, recorded as the runner records it."""
    episode = WebShop().episode(item)
    prompt, outputs = next(episode), []
    while True:
        outputs.append(checkpoint(prompt.messages[-1].content))
        try:
            prompt = episode.send(Completion(outputs[-1], tokens=10, finish_reason="stop"))
        except StopIteration as end:
            outcome: Outcome = end.value
            return Record(
                item.id, "", tuple(outputs), outcome.answer, outcome.reward, 10 * len(outputs), "stop", outcome.facts
            )


def play_all(items: Sequence[Item], checkpoint: Checkpoint) -> list[Record]:
    return [play(item, checkpoint) for item in items]


def possible(message: str) -> list[str]:
    """The actions that a message offers."""
    listed = message.partition("\nPossible actions:\n")[2]
    return [line for line in listed.splitlines() if line.startswith(("click[", "search["))]


def request(message: str) -> str:
    return message.splitlines()[0].removeprefix("Request: ")


def first_hit(message: str) -> str:
    """Search for the request, take the first product, buy it as it is."""
    actions = possible(message)
    if "search[your words]" in actions:
        return f"search[{request(message)}]"
    if "click[buy now]" in actions:
        return "click[buy now]"
    return next(action for action in actions if action not in ("click[back to search]", "click[next >]"))


def first_hit_with_options(message: str) -> str:
    """The same, but first choose every option value that occurs in the request."""
    actions = possible(message)
    if "click[buy now]" in actions:
        wanted = request(message).lower()
        buttons = actions.index("click[buy now]")
        for action in actions[buttons + 1 :]:
            if action.removeprefix("click[").removesuffix("]") in wanted and f": {action}\n" not in message:
                return action
    return first_hit(message)

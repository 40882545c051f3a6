"""A text web shop: search, result pages, item pages with options, a purchase, and a reward in 0..1.

It behaves as WebShop's text mode (Yao et al., 2022, princeton-nlp/WebShop) over its 1,000-product catalogue, in one
process. Needs `rapidfuzz`, `PyStemmer` and `regex`; imports nothing of the platform, so the folder can be copied.

    shop = Shop.open(Path("data"))
    session = Session(shop, goal)
    step = session.step("search[red running shoes]")
"""

from .actions import Action, parse_action, read_action
from .goals import Goal, read_goals
from .prompting import MAX_STEPS, MAX_TOKENS, STOP, SYSTEM, user_message
from .reward import Reward, reward
from .session import Session, Step
from .shop import Shop

__all__ = [
    "MAX_STEPS",
    "MAX_TOKENS",
    "STOP",
    "SYSTEM",
    "Action",
    "Goal",
    "Reward",
    "Session",
    "Shop",
    "Step",
    "parse_action",
    "read_action",
    "read_goals",
    "reward",
    "user_message",
]

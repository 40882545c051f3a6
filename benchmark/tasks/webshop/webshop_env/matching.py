"""Whether two short texts mean the same attribute or option: fuzzy, and by basic colour."""

import re
from functools import lru_cache

from rapidfuzz import fuzz

ENOUGH = 85
"""A match scores more than this, of 100."""
_COLOURS = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo
caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal
dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory
ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom
mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire
seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut wheat white
wine yellow
"""
COLOURS = tuple(_COLOURS.split())
"""WebShop's basic colours. The first of them that occurs in an option's value, also within a word, stands for it."""
_LATIN_1 = dict.fromkeys(range(128, 256))
_NO_WORD = re.compile(r"\W", re.IGNORECASE)


@lru_cache(maxsize=65_536)
def similar(left: str, right: str) -> bool:
    """Whether thefuzz 0.19's `token_set_ratio`, a whole number, exceeds `ENOUGH`.

    Its preparation is part of the number: Latin-1 characters vanish, other non-word characters become spaces.
    """
    left, right = _prepared(left), _prepared(right)
    if not left or not right:
        return False
    return round(fuzz.token_set_ratio(left, right)) > ENOUGH


@lru_cache(maxsize=8192)
def basic_colour(value: str) -> str:
    """The basic colour in `value`, or `value` itself."""
    return next((colour for colour in COLOURS if colour in value), value)


def wanted_option(name: str, value: str) -> str:
    """A goal's option as it is compared.

    WebShop compares the pair of name and value, written as a Python tuple, unless one of the two is a basic colour.
    The name's words then count too, and a shade such as `redwood` is not reduced to `red`, though a purchased one is:
    the right choice can fail to match. That is part of the protocol.
    """
    pair = (name, value)
    return next((colour for colour in COLOURS if colour in pair), str(pair))


@lru_cache(maxsize=65_536)
def _prepared(text: str) -> str:
    return _NO_WORD.sub(" ", text.translate(_LATIN_1)).lower().strip()

"""AlpacaEval's sources as an operator lays them out, prepared once."""

from tests.unit.tasks.alpacaeval.conftest import sources, target

__all__ = ["sources", "target"]

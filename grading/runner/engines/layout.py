"""How a model's weights lie in memory."""

from typing import Any

import torch


def lay_out_for_few_rows(model: Any) -> None:
    """Store the weights of linear layers by input feature instead of by output feature; their values stay.

    On a CPU, products of a few dozen rows, which is what decoding a batch consists of, then take about two thirds of
    the time. An output layer tied to the embedding becomes a copy of it.
    """
    for module in model.modules():
        if isinstance(module, torch.nn.Linear):
            weight = module.weight.detach()
            module.weight = torch.nn.Parameter(weight.t().contiguous().t(), requires_grad=False)

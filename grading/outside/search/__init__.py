"""A web search for evaluators: one of several providers, or documents on this machine, with every answer kept."""

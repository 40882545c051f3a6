"""An example agent: post-trains a model with TRL, without a language model of its own."""

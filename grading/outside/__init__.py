"""What answers an evaluator that asks for the world outside its sandbox: a judge, a web search.

The worker opens one UNIX socket for an evaluation whose task says that it `needs` something. Keys stay on this side. No
Django here: `grading/services/way_out.py` reads the settings.
"""

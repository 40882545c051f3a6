"""The host's end of a sandbox's socket: the only way out, and it leads only to the routes given to it.

A route is one small module with a class that has `accepts` and `answer` (see `routes`); another kind of way out, such
as one to model providers, is another such module. No Django here: a gateway may run on its own.
"""

"""A language model that runs a store year: its context window, its memory, its tool calls.

``keeper`` is the loop, ``window`` what stays in the context, ``memory`` what is kept in view beside it, ``wire`` how
turns are written for a server, ``seat`` the model's place in a run.
"""

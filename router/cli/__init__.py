"""The command line for operators: `serve`, and otherwise checks of files and calls to the admin HTTP.

Must never talk to Redis, and must start fast: a command imports what it needs when it runs.
"""

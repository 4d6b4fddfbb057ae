"""The only place that wires: config in, a running replica out.

May import: everything below it.
Must never: decide anything, or be imported by anything but `cli`, the load tests and tests.
"""

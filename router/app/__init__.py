"""The only place that wires: config in, a running replica out.

May import: everything below it. Must never: decide, or be imported by anything but `cli` and the load tests.
"""

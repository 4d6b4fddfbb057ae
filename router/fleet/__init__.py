"""The control plane: keeps the picture of workers and claims true. One leader runs it; each file is one
forever-coroutine named by its verb.

May import: store, telemetry, policy, model, providers.
Must never: touch a client's request, or know HTTP.
"""

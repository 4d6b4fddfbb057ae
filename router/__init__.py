"""The gateway: from an HTTP request to a placement and back.

Layers, top to bottom: cli, app, api, serving | fleet | simulation, store | telemetry, policy, model.
A module imports only from the layers below its own; a bar means "do not know each other".
May import the providers and the config.
Must never: import loadtests or tests, or grow a module without a layer.
"""

"""The data plane: carries one ticket from admission to its answer.

May import: store, telemetry, policy, model, providers.
Must never: know HTTP status codes, OpenAI's names, or the control plane (they meet only in the store).
"""

"""What a deployment edits: the YAML, its schema and its loader.

May import: pydantic and a YAML reader. Knows neither the router nor the providers.
Must never: talk to a network, hold a secret in plain text when printed, or accept an unknown key.
"""

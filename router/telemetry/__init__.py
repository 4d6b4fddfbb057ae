"""Frozen event records and their one mapping to metrics, spans and log lines.

May import: `router.model`, `providers.contract`, OpenTelemetry (the SDK in `otel.py` alone).
Must never: carry a prompt, an image, a key or a URL, or be needed for a decision.
"""

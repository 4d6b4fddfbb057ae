"""Fields of OpenAI's that mean nothing here. They are accepted, so that existing clients work, and named in
`Spillover-Ignored`, so that nobody is misled.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

IGNORED: Mapping[str, str] = MappingProxyType(
    {
        "background": "transparency is up to the model",
        "moderation": "providers apply their own policy",
        "user": "tenants are known by their key",
        "safety_identifier": "tenants are known by their key",
        "style": "say it in the prompt",
        "output_compression": "images are passed on as the back end made them",
        "partial_images": "only finished images are returned",
        "input_fidelity": "there are no input images here",
        "complexity": "only for vector output",
        "svg": "only for vector output",
        "frame_count": "only for animations",
        "frame_duration_ms": "only for animations",
    }
)
"""Each with the reason, for the published schema."""

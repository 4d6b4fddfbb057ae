"""The files that results point to: public, by an unguessable name, for a limited time.

Real media URLs live on a CDN and need no key (docs.fal.ai, media expiration). Here they are on the same
server.
"""

import secrets
import time
from dataclasses import dataclass

CONTENT_TYPES = {"png": "image/png", "jpeg": "image/jpeg"}
SUFFIXES = {"png": "png", "jpeg": "jpg"}


@dataclass(frozen=True)
class MediaFile:
    path: str
    content: bytes
    content_type: str
    prompt: str
    expires: float

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


class Media:
    def __init__(self) -> None:
        self._files: dict[str, MediaFile] = {}

    def put(self, content: bytes, output_format: str, prompt: str, lifetime_s: float) -> MediaFile:
        path = f"/files/{secrets.token_hex(4)}/{secrets.token_urlsafe(12)}.{SUFFIXES[output_format]}"
        file = MediaFile(path, content, CONTENT_TYPES[output_format], prompt, time.monotonic() + lifetime_s)
        self._files[path] = file
        return file

    def get(self, path: str) -> MediaFile | None:
        """The file, or None if there is none or its time is over."""
        file = self._files.get(path)
        if file is not None and file.expires <= time.monotonic():
            del self._files[path]
            return None
        return file

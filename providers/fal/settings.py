"""What a deployment says about a fal account and the models it uses there."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from providers.contract import Capabilities

Host = Annotated[str, Field(pattern=r"^[A-Za-z0-9.-]+(:[0-9]{1,5})?$")]
# Strict mode would refuse the lists that YAML has for tuples.
Hosts = Annotated[tuple[Host, ...], Field(strict=False)]
Seconds = Annotated[float, Field(gt=0, le=600)]


class Settings(BaseModel):
    """One account. What its models honour differs from endpoint to endpoint, so it is said here."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)

    hosts: Hosts = ("fal.run", "falrun.com")
    """Besides the origin of the base URL: where returned status, result and cancel URLs may point, subdomains
    included. Over https only."""
    media_hosts: Hosts = ("fal.media",)
    """The same for URLs of images."""
    max_count: Annotated[int, Field(ge=1, le=10)] = 4
    loras: bool = False
    """Endpoints that take `loras` (`fal-ai/flux-lora`)."""
    max_loras: Annotated[int, Field(ge=1, le=10)] = 3
    negative_prompt: bool = False
    """Endpoints of the SDXL kind."""
    guidance_scale: bool = True
    """Not on distilled models such as schnell."""
    safety_checker: bool = True
    poll_first_s: Seconds = 0.25
    poll_longest_s: Seconds = 1.0
    request_s: Seconds = 10.0
    """The most one status, result or cancel request may take."""
    media_s: Seconds = 60.0
    """The most one download of an image may take."""
    run_s: Annotated[float, Field(ge=0, le=600)] = 5.0
    """Kept of the budget for running: a request that has not started by then is dropped by fal, unbilled."""

    def capabilities(self) -> Capabilities:
        """What these endpoints honour."""
        return Capabilities(
            max_count=self.max_count,
            loras=self.loras,
            max_loras=self.max_loras,
            negative_prompt=self.negative_prompt,
            guidance_scale=self.guidance_scale,
            seed=True,
            formats=frozenset({"jpeg", "png"}),
        )

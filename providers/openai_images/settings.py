"""What a deployment says about servers that speak the OpenAI images dialect, and what they can do."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from providers.contract import Capabilities

Server = Literal["sglang", "vllm_omni", "openai"]
Scope = Literal["server", "request", "none"]
Path = Annotated[str, Field(pattern=r"^/[^\s?#]*$")]

# SGLang-Diffusion: `set_lora` is server-global. vLLM-Omni: `lora` in each request. OpenAI: no LoRA at all.
SCOPES: dict[Server, tuple[Scope, ...]] = {
    "sglang": ("server", "none"),
    "vllm_omni": ("request", "none"),
    "openai": ("none",),
}
HEALTH_PATHS: dict[Server, str] = {"sglang": "/health", "vllm_omni": "/health", "openai": "/v1/models"}


class Settings(BaseModel):
    """`lora_scope` and `health_path` follow the server when they are not said."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    server: Server
    lora_scope: Scope | None = None
    health_path: Path | None = None

    @model_validator(mode="after")
    def _possible(self) -> Settings:
        if self.lora_scope is not None and self.lora_scope not in SCOPES[self.server]:
            raise ValueError(f"lora_scope of {self.server} is one of {', '.join(SCOPES[self.server])}")
        return self

    @property
    def loras(self) -> Scope:
        """Where this server's LoRAs are chosen."""
        return self.lora_scope or SCOPES[self.server][0]

    @property
    def health(self) -> str:
        """The path that says whether a request would be taken."""
        return self.health_path or HEALTH_PATHS[self.server]

    def capabilities(self) -> Capabilities:
        """What this server honours. OpenAI's own API has no seed, guidance, negative prompt or LoRA."""
        extended = self.server != "openai"
        return Capabilities(
            max_count=10,
            loras=self.loras == "request",
            max_loras=1,
            negative_prompt=extended,
            guidance_scale=extended,
            seed=extended,
            formats=frozenset({"png", "jpeg", "webp"}),
            cancels_on_disconnect=self.server == "vllm_omni",
            reports_idle=extended,
        )

"""`GET /v1/models`: what clients can ask for, in OpenAI's shape with our own facts beside it."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Depends

from router.api.catalogue import Catalogue
from router.api.doors import Door
from router.api.tenants import Keyring


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What a client of images wants to know: defaults, limits, and the names of LoRAs."""

    size: str
    steps: int
    max_steps: int
    max_pixels: int
    multiple_of: int
    loras: list[str]
    aliases: list[str]


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model. `created` has no meaning here and is 0."""

    id: str
    spillover: ModelFacts
    object: str = "model"
    created: int = 0
    owned_by: str = "spillover"


@dataclass(frozen=True, slots=True)
class ModelList:
    """All models."""

    data: list[ModelCard]
    object: str = "list"


class Models:
    """The two paths."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def router(self, keyring: Keyring) -> APIRouter:
        """Any key may read them."""
        router = APIRouter(prefix="/v1/models", tags=["models"], dependencies=[Depends(Door(keyring))])
        router.add_api_route("", self.all, methods=["GET"], summary="List the models")
        router.add_api_route("/{name}", self.one, methods=["GET"], summary="One model, by name or alias")
        return router

    async def all(self) -> ModelList:
        """Every model of the deployment."""
        return ModelList([self._card(name) for name in self._catalogue.models])

    async def one(self, name: str) -> ModelCard:
        """One model."""
        return self._card(self._catalogue.find(name)[0])

    def _card(self, name: str) -> ModelCard:
        model, limits = self._catalogue.models[name], self._catalogue.limits
        facts = ModelFacts(
            size=model.size,
            steps=model.steps,
            max_steps=min(model.max_steps, limits.steps),
            max_pixels=min(model.max_pixels, limits.pixels),
            multiple_of=model.multiple_of,
            loras=sorted(model.loras),
            aliases=list(model.aliases),
        )
        return ModelCard(name, facts)

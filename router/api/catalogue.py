"""The models that clients can ask for, by every name they may use."""

from __future__ import annotations

from config.problems import did_you_mean
from config.schema import Config, Model
from router.api.refusals import Refusal


class Catalogue:
    """Looks models up by name or alias. A request that names none gets the default one."""

    def __init__(self, config: Config) -> None:
        self.models = config.models
        self.limits = config.limits
        self._default = config.default_model
        aliases = {alias: name for name, model in config.models.items() for alias in model.aliases}
        self._names = aliases | {name: name for name in config.models}

    def find(self, asked: str | None) -> tuple[str, Model]:
        """The deployment's own name of the model, and the model; raises a `Refusal`."""
        name = self._names.get(asked or self._default)
        if name is None:
            hint = did_you_mean(asked, self._names) or "See GET /v1/models."
            message = f"There is no such model: {hint[0].upper()}{hint[1:]}"
            raise Refusal("model_not_found", message, param="model")
        return name, self.models[name]

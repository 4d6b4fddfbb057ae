"""The OpenAPI document: FastAPI's own, with the images path described from the struct that decodes it."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from router.api import images, wire
from router.api.refusals import TABLE

HEADERS = {
    "Spillover-Deadline": "Seconds from now until the answer must be out.",
    "Spillover-Class": "One of the deployment's classes; decides the deadline of a request that names none.",
    "X-Request-Id": "An id of the caller's own, `[A-Za-z0-9_-]{1,64}`; echoed.",
}


def document(app: FastAPI) -> dict[str, Any]:
    """The whole description, as a fresh value."""
    found = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
    components = found.setdefault("components", {})
    body, parts = wire.schema()
    components.setdefault("schemas", {}).update(parts | {"Error": _error()})
    components["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"key": []}]
    found["paths"][images.PATH] = {"post": _generations(body)}
    return found


def _generations(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "tags": ["images"],
        "summary": "Make images",
        "parameters": [
            {"name": name, "in": "header", "schema": {"type": "string"}, "description": about}
            for name, about in HEADERS.items()
        ],
        "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
        "responses": {
            "200": {"description": "The images, base64, with the routing facts under `spillover`."},
            "default": {
                "description": "A refusal.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
            },
        },
    }


def _error() -> dict[str, Any]:
    text = {"type": ["string", "null"]}
    fields = {
        "message": {"type": "string"},
        "type": {"type": "string"},
        "param": text,
        "code": {"type": "string", "enum": sorted(TABLE)},
        "retryable": {"type": "boolean"},
        "request_id": {"type": "string"},
        "job_id": text,
    }
    error = {"type": "object", "properties": fields, "required": sorted(fields)}
    return {"type": "object", "properties": {"error": error}, "required": ["error"]}

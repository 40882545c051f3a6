"""The schema, and the page for people that the server makes of it: no script, nothing from elsewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from frontend.api.base import AnyFormat, ApiView
from frontend.api.parameters import Parameter

VERBS = ("get", "post")
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A query parameter, or a field of a body or an answer."""

    name: str
    kind: str
    told: str
    required: bool = False


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    id: str
    verb: str
    path: str
    title: str
    told: str
    parameters: list[Field]
    body: list[Field]
    answer_name: str
    answer: list[Field]

    @property
    def link(self) -> str:
        """Where a browser can look at once, empty: it needs an id, or changes something."""
        required = any(parameter.required for parameter in self.parameters)
        return self.path if self.verb == "GET" and "{" not in self.path and not required else ""


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    return render(request, "frontend/api.html", {"groups": _groups()})


@extend_schema(exclude=True)
class SchemaView(ApiView):
    """The OpenAPI schema."""

    parameters = (Parameter("format", "Of the schema.", choices=("yaml", "json"), default="yaml"),)
    content_negotiation_class = AnyFormat

    def version(self, **_: Any) -> str:
        return "schema"  # it follows from the code alone, which every ETag is made of

    def get(self, request: Request) -> HttpResponse:
        form = self.given["format"]
        kind = "application/vnd.oai.openapi" + ("+json" if form == "json" else "")
        return HttpResponse(_written(form), content_type=f"{kind}; charset=utf-8")


@cache
def _written(form: str) -> bytes:
    renderer: Any = (OpenApiJsonRenderer if form == "json" else OpenApiYamlRenderer)()
    return bytes(renderer.render(_schema()))


@cache
def _schema() -> Schema:
    generator: Any = SchemaGenerator()  # type: ignore[no-untyped-call]
    found: Schema = generator.get_schema(request=None, public=True)
    return found


@cache
def _groups() -> list[tuple[str, list[Operation]]]:
    """By the first word of the address."""
    schema = _schema()
    grouped: dict[str, list[Operation]] = {}
    for path, verbs in schema["paths"].items():
        word = path.removeprefix("/api/v1/").split("/", 1)[0]
        grouped.setdefault(word, []).extend(
            _operation(schema, path, verb, verbs[verb]) for verb in VERBS if verb in verbs
        )
    return sorted(grouped.items())


def _operation(schema: Schema, path: str, verb: str, told: Schema) -> Operation:
    content = told.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    good: Schema = next((answer for code, answer in told["responses"].items() if code.startswith("2")), {})
    answer = good.get("content", {}).get("application/json", {}).get("schema", {})
    name, fields = _shape(schema, answer)
    return Operation(
        id=told["operationId"],
        verb=verb.upper(),
        path=path,
        title=told["operationId"].replace("_", " "),
        told=told.get("description", ""),
        parameters=[_parameter(each) for each in told.get("parameters", []) if each["in"] == "query"],
        body=_shape(schema, content)[1],
        answer_name=name,
        answer=fields,
    )


def _parameter(told: Schema) -> Field:
    return Field(told["name"], _kind(told["schema"]), told.get("description", ""), bool(told.get("required")))


def _shape(schema: Schema, told: Schema) -> tuple[str, list[Field]]:
    """A name for what is answered, and its fields; those of the rows where it is a list or a page."""
    if told.get("type") == "array":
        name, fields = _shape(schema, told["items"])
        return f"a list of {name}", fields
    found = _resolved(schema, told)
    properties = found.get("properties", {})
    if set(properties) == {"next", "results"}:
        name, fields = _shape(schema, properties["results"])
        return f"a page, {{next, results}}, results being {name}", fields
    name = str(told.get("$ref", "an object")).rsplit("/", 1)[-1].removesuffix("Shape")
    required = found.get("required", [])
    return name, [_field(schema, each, about, each in required) for each, about in properties.items()]


def _field(schema: Schema, name: str, told: Schema, required: bool) -> Field:
    return Field(name, _kind(_resolved(schema, told)), told.get("description", ""), required)


def _resolved(schema: Schema, told: Schema) -> Schema:
    parts = [*told.get("allOf", []), *told.get("oneOf", [])]
    reference = told.get("$ref") or (parts[0].get("$ref") if parts else None)
    if reference is None:
        return told
    found: Schema = schema["components"]["schemas"][reference.rsplit("/", 1)[-1]]
    return found


def _kind(told: Schema) -> str:
    return ", ".join(_kinds(told))


def _kinds(told: Schema) -> Iterator[str]:
    if "enum" in told:
        yield "one of " + " ".join(str(each) or "(empty)" for each in told["enum"])
    elif told.get("type") == "array":
        yield "list of " + _kind(told.get("items", {}))
    else:
        yield {"date-time": "time"}.get(told.get("format", ""), str(told.get("type", "any")))
    if told.get("nullable"):
        yield "or null"
    if told.get("default") is not None:
        yield f"default {told['default']}"

"""The public API's settings (Django REST framework and the OpenAPI schema); nothing of a deployment."""

REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["frontend.api.permissions.ByNeed"],
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "benchmark.api.authentication.ApiTokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["frontend.api.throttling.PerMinute"],
    "DEFAULT_SCHEMA_CLASS": "frontend.api.base.ApiSchema",
    "DEFAULT_RENDERER_CLASSES": ["frontend.api.rendering.FiniteJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["frontend.api.rendering.StrictJSONParser"],
    "EXCEPTION_HANDLER": "frontend.api.base.answer_to",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Agent² RL-Bench",
    "VERSION": "1",
    "DESCRIPTION": "Everything that the pages show. Scores run from 0 to 100; null means not scored, never zero.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SCHEMA_PATH_PREFIX_TRIM": False,
    "ENUM_NAME_OVERRIDES": {
        "RunStateEnum": "benchmark.models.RunState",
        "SubmissionStateEnum": "grading.models.SubmissionState",
        "BundleStateEnum": "bundles.models.BundleState",
        "ModeEnum": "benchmark.models.Mode",
    },
}

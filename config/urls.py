"""Every URL of the site."""

from django.urls import include, path

from frontend.views.hosts import join, record
from frontend.views.metrics import health, metrics

handler400 = "frontend.views.refused.bad_request"
handler404 = "frontend.views.refused.not_found"
urlpatterns = [
    path("healthz", health, name="health"),
    path("metrics", metrics, name="metrics"),
    path("worker/join", join, name="host-join"),
    path("worker/records/<path:place>", record, name="host-record"),
    path("grading/<str:token>/", include("grading.api.urls")),
    path("api/v1/", include(("frontend.api.urls", "api"))),
    path("bundles/", include("frontend.bundle_urls")),
    path("notifications/", include("frontend.bundle_notice_urls")),
    path("", include("frontend.urls")),
]

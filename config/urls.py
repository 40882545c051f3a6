"""Every URL of the site."""

from django.urls import include, path

urlpatterns = [
    path("grading/<str:token>/", include("grading.api.urls")),
    path("api/v1/", include(("frontend.api.urls", "api"))),
    path("", include("frontend.urls")),
]

"""Every URL of the site."""

from django.urls import include, path

urlpatterns = [
    path("grading/<str:token>/", include("grading.api.urls")),
    path("api/", include("frontend.api.urls")),
    path("", include("frontend.urls")),
]

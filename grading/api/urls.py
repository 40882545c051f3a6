"""URLs below `/grading/<secret>/`."""

from django.urls import path

from grading.api import views

urlpatterns = [
    path("submit", views.submit),
    path("health", views.health),
    path("time", views.time_left),
    path("submissions", views.submissions),
    path("submissions/<int:number>", views.submission),
    path("set_baseline", views.set_baseline),
    path("<path:rest>", views.unknown),
]

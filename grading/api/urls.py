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
    path("tasks/<str:task>/submit", views.submit),
    path("tasks/<str:task>/health", views.health),
    path("tasks/<str:task>/time", views.time_left),
    path("tasks/<str:task>/submissions", views.submissions),
    path("tasks/<str:task>/submissions/<int:number>", views.submission),
    path("<path:rest>", views.unknown),
]

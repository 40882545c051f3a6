"""The addresses of analyses."""

from django.urls import path, re_path

from frontend.views import analyses

urlpatterns = [
    path("", analyses.analyses_index, name="analyses"),
    path("<slug:name>/", analyses.analysis_page, name="analysis"),
    path("<slug:name>/figure.json", analyses.analysis_figure, name="analysis-figure"),
    re_path(r"^(?P<name>[a-z-]+)/table\.(?P<ending>csv|tex)$", analyses.analysis_file, name="analysis-file"),
]

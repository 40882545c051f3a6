"""Addresses below one run's own, beside those that its page had first."""

from django.urls import path, re_path

from frontend.views import run, run_files, run_tabs

urlpatterns = [
    path("curve/", run.run_curve_tab, name="run-curve-tab"),
    path("submissions/", run.run_submissions, name="run-submissions"),
    path("fragment/<slug:piece>/", run.run_piece, name="run-piece"),
    path("routes/", run_tabs.run_routes, name="run-routes"),
    path("artifacts/", run_tabs.run_artifacts, name="run-artifacts"),
    path("integrity/", run_tabs.run_integrity, name="run-integrity"),
    path("configuration/", run_tabs.run_configuration, name="run-configuration"),
    path("submissions/<int:number>/records/", run_tabs.run_records, name="run-records"),
    path("submissions/<int:number>/again/", run_tabs.run_repeat, name="run-repeat"),
    path("cite.bib", run_files.run_bibtex, name="run-bibtex"),
    re_path(
        r"^trace/(?P<key>[0-9a-f]{32})/whole\.(?P<form>jsonl|atif\.json|log)$",
        run_files.run_trace_file,
        name="run-trace-file",
    ),
]

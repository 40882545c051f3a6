"""The pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from frontend.views import annotate, compare, leaderboard, queue, run, run_record, runs, trace, trace_event

urlpatterns = [
    path("", leaderboard.leaderboard_page, name="leaderboard"),
    path("runs/", runs.run_list, name="run-list"),
    path("runs/new", runs.run_new, name="run-new"),
    path("runs/active/", runs.runs_active, name="runs-active"),
    path("runs/<slug:slug>/", run.run_detail, name="run"),
    path("runs/<slug:slug>/fragment/", run.run_fragment, name="run-fragment"),
    path("runs/<slug:slug>/curve.json", run.run_curve, name="run-curve"),
    path("runs/<slug:slug>/submissions.csv", run.run_submissions_csv, name="run-submissions-csv"),
    path("runs/<slug:slug>/cancel/", run.run_cancel_view, name="run-cancel"),
    path("runs/<slug:slug>/trace/", trace.trace, name="trace"),
    path("runs/<slug:slug>/trace/rows.json", trace.trace_rows, name="trace-rows"),
    path("runs/<slug:slug>/trace/search.json", trace.trace_search, name="trace-search"),
    path("runs/<slug:slug>/trace/place.json", trace.trace_place, name="trace-place"),
    path("runs/<slug:slug>/trace/outline/", trace.trace_outline, name="trace-outline"),
    path("runs/<slug:slug>/trace/<slug:key>/<int:seq>/", trace_event.trace_event, name="trace-event"),
    path("runs/<slug:slug>/trace/<slug:key>/<int:seq>/raw", trace_event.trace_raw, name="trace-raw"),
    path(
        "runs/<slug:slug>/trace/<slug:key>/<int:seq>/images/<int:number>", trace_event.trace_image, name="trace-image"
    ),
    path("runs/<slug:slug>/report.md", run_record.run_report, name="run-report"),
    path("runs/<slug:slug>/submissions/<int:a>..<int:b>/diff", run_record.run_diff, name="run-diff"),
    path("runs/<slug:slug>/submissions/<int:number>/labels/", run_record.run_labels, name="run-labels"),
    path(
        "runs/<slug:slug>/submissions/<int:number>/labels/correct/",
        run_record.run_label_correct,
        name="run-label-correct",
    ),
    path("compare", compare.compare, name="compare"),
    path("compare/curve.json", compare.compare_curve, name="compare-curve"),
    path("compare/points.csv", compare.compare_csv, name="compare-csv"),
    path("compare/measures.tex", compare.compare_latex, name="compare-latex"),
    path("annotate/", annotate.annotate, name="annotate"),
    path("annotate/queues/", annotate.queue_new, name="annotate-queue-new"),
    path("annotate/queues/<int:pk>/next/", annotate.queue_next, name="annotate-next"),
    path("runs/<slug:slug>/annotate/", annotate.run_annotate, name="run-annotate"),
    path("runs/<slug:slug>/annotate/submit/", annotate.run_annotate_submit, name="run-annotate-submit"),
    path("runs/<slug:slug>/annotate/release/", annotate.run_annotate_release, name="run-annotate-release"),
    path("runs/<slug:slug>/annotate/decide/", annotate.run_adjudicate, name="run-adjudicate"),
    path("agreement/", annotate.agreement_page, name="agreement"),
    path("queue/", queue.queue, name="queue"),
    path(
        "login/", LoginView.as_view(template_name="frontend/login.html", redirect_authenticated_user=True), name="login"
    ),
    path("logout/", LogoutView.as_view(), name="logout"),
]

"""The pages."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from frontend.views import leaderboard, queue, run, runs

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
    path("queue/", queue.queue, name="queue"),
    path(
        "login/", LoginView.as_view(template_name="frontend/login.html", redirect_authenticated_user=True), name="login"
    ),
    path("logout/", LogoutView.as_view(), name="logout"),
]

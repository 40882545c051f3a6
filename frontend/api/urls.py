"""URLs below `/api/v1/`."""

from django.urls import path

from frontend.api import analyses, annotations, board, bundles, catalogue, docs, run_parts, runs, work

urlpatterns = [
    path("", docs.docs, name="docs"),
    path("schema/", docs.SchemaView.as_view(), name="schema"),
    path("leaderboard/", board.Leaderboard.as_view(), name="leaderboard"),
    path("analyses/", analyses.Analyses.as_view(), name="analyses"),
    path("analyses/<slug:name>/", analyses.AnalysisOne.as_view(), name="analysis"),
    path("tasks/", catalogue.Tasks.as_view(), name="tasks"),
    path("tasks/<str:task>/", catalogue.TaskOne.as_view(), name="task"),
    path("agents/", catalogue.Agents.as_view(), name="agents"),
    path("agents/<str:agent>/", catalogue.AgentOne.as_view(), name="agent"),
    path("runs/", runs.Runs.as_view(), name="runs"),
    path("runs/<slug:slug>/", runs.RunOne.as_view(), name="run"),
    path("runs/<slug:slug>/cancel/", runs.RunCancel.as_view(), name="run-cancel"),
    path("runs/<slug:slug>/rerun/", runs.RunAgain.as_view(), name="run-rerun"),
    path("runs/<slug:slug>/submissions/", run_parts.RunSubmissions.as_view(), name="run-submissions"),
    path("runs/<slug:slug>/events/", run_parts.RunEvents.as_view(), name="run-events"),
    path("runs/<slug:slug>/points/", run_parts.RunPoints.as_view(), name="run-points"),
    path("runs/<slug:slug>/metrics/", run_parts.RunMetrics.as_view(), name="run-metrics"),
    path("runs/<slug:slug>/labels/", run_parts.RunLabels.as_view(), name="run-labels"),
    path("runs/<slug:slug>/integrity/", run_parts.RunIntegrity.as_view(), name="run-integrity"),
    path("bundles/", bundles.Bundles.as_view(), name="bundles"),
    path("bundles/<slug:slug>/", bundles.BundleOne.as_view(), name="bundle"),
    path("bundles/<slug:slug>/terms/", bundles.BundleTerms.as_view(), name="bundle-terms"),
    path("bundles/<slug:slug>/appeal/", bundles.BundleAppeal.as_view(), name="bundle-appeal"),
    path("bundles/<slug:slug>/moderate/", bundles.BundleModerate.as_view(), name="bundle-moderate"),
    path("notifications/", bundles.Notices.as_view(), name="notifications"),
    path("queue/", work.Queue.as_view(), name="queue"),
    path("queue/cost/", work.Cost.as_view(), name="cost"),
    path("workers/", work.Workers.as_view(), name="workers"),
    path("annotations/", annotations.Annotations.as_view(), name="annotations"),
    path("annotations/submit", annotations.AnnotationsSubmit.as_view(), name="annotations-submit"),
    path("annotations/export", annotations.AnnotationsExport.as_view(), name="annotation-export"),
]

"""URLs below `/bundles/`."""

from django.urls import path

from frontend.views import bundle_files, bundle_moderation, bundle_upload, bundles

urlpatterns = [
    path("", bundles.bundle_list, name="bundle-list"),
    path("new", bundles.bundle_new, name="bundle-new"),
    path("agent2_pack.py", bundle_files.packer, name="bundle-packer"),
    path("manifest-1.0.schema.json", bundle_files.schema, name="bundle-schema"),
    path("of/<slug:slug>.zip", bundle_files.run_bundle, name="run-bundle"),
    path("upload/", bundle_upload.uploads, name="bundle-uploads"),
    path("upload/<str:key>/", bundle_upload.upload, name="bundle-upload"),
    path("moderation/", bundle_moderation.moderation, name="bundle-moderation"),
    path("<slug:slug>/", bundles.bundle_detail, name="bundle"),
    path("<slug:slug>/report.json", bundles.bundle_report, name="bundle-report"),
    path("<slug:slug>/archive", bundles.bundle_archive, name="bundle-archive"),
    path("<slug:slug>/terms/", bundles.bundle_terms, name="bundle-terms"),
    path("<slug:slug>/appeal/", bundles.bundle_appeal, name="bundle-appeal"),
    path("<slug:slug>/similar/", bundle_moderation.similar, name="bundle-similar"),
    path("<slug:slug>/moderate/", bundle_moderation.moderate, name="bundle-moderate"),
    path("<slug:slug>/appeals/<int:pk>/", bundle_moderation.decide, name="bundle-decide"),
]

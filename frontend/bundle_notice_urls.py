"""URLs below `/notifications/`."""

from django.urls import path

from frontend.views import bundle_notices

urlpatterns = [
    path("", bundle_notices.notices, name="notices"),
    path("read/", bundle_notices.notices_read, name="notices-read"),
]

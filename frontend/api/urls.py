"""URLs below `/api/v1/`."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from frontend.api.annotations import Annotations, AnnotationsExport, AnnotationsSubmit
from frontend.api.views import RunViewSet

router = SimpleRouter()
router.register("runs", RunViewSet)

urlpatterns = [
    path("", include(router.urls)),
    path("annotations/", Annotations.as_view(), name="annotations"),
    path("annotations/submit", AnnotationsSubmit.as_view(), name="annotations-submit"),
    path("annotations/export", AnnotationsExport.as_view(), name="annotation-export"),
    path("schema/", SpectacularAPIView.as_view(), name="schema"),
]

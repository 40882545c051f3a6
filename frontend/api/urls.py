"""URLs below `/api/`."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView
from rest_framework.routers import SimpleRouter

from frontend.api.views import RunViewSet

router = SimpleRouter()
router.register("runs", RunViewSet)

urlpatterns = [path("", include(router.urls)), path("schema/", SpectacularAPIView.as_view(), name="schema")]

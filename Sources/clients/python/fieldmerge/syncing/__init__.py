"""The exchange with the gateway: what the scheduler's table asks for, request by request."""

from __future__ import annotations

from .report import CLOSE_SECONDS, Report
from .requester import Requester
from .synchronizer import Synchronizer

__all__ = ["CLOSE_SECONDS", "Report", "Requester", "Synchronizer"]

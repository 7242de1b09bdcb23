"""The exchange with the gateway: the requests of the scheduler's table."""

from __future__ import annotations

from .report import CLOSE_SECONDS, Report
from .requester import Requester
from .synchronizer import Synchronizer

__all__ = ["CLOSE_SECONDS", "Report", "Requester", "Synchronizer"]

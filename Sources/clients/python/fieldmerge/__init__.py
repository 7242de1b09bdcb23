"""FieldMerge for Python: records without a network, and the outcome of each edit.

import fieldmerge

with fieldmerge.open("shop.db", server="https://shop.example", user="anna", token=get_token) as store:
    store.sync()
    with store.edit("shoppers", 123) as s:
        s.customer.street = "2 High St"
    store.sync()
    print(s.ticket.outcome(timeout=10).status)
"""

from __future__ import annotations

from . import aio
from .errors import (
    FieldMergeError,
    InvalidEdit,
    InvalidQuery,
    InvalidValue,
    NewerStore,
    NotPossible,
    Offline,
    RecordNotFound,
    RequestRefused,
    RulesUnknown,
    StorageError,
    StoreClosed,
    UnknownName,
    UnknownValue,
    UnsentEdits,
    WrongStore,
)
from .exporting import export_store
from .forms import RecordDraft
from .model import Change
from .queries import LiveQuery, Results
from .snapshot import BadSnapshot
from .store import Progress, Status, Store
from .store import open_store as open
from .syncing import Report
from .tickets import Conflict, EditOfRecord, Gone, Lost, Outcome, Overtaken, RefusedEdit, Ticket, UnsentEdit
from .transaction import Transaction

__version__ = "0.3.0"

__all__ = [
    "BadSnapshot", "Change", "Conflict", "EditOfRecord", "FieldMergeError", "Gone", "InvalidEdit", "InvalidQuery", "InvalidValue", "LiveQuery", "Lost",
    "NewerStore", "NotPossible", "Offline", "Outcome", "Overtaken", "Progress", "RecordDraft", "RecordNotFound", "RefusedEdit", "Report", "RequestRefused", "Results",
    "RulesUnknown", "Status", "StorageError", "Store", "StoreClosed", "Ticket", "Transaction", "UnknownName", "UnknownValue",
    "UnsentEdit", "UnsentEdits", "WrongStore", "aio", "export_store", "open",
]  # fmt: skip

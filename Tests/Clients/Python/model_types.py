"""Written by “fieldmerge types --language python”. Do not edit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

from fieldmerge.typed import ResourceType, Timestamp, TypedRecord, TypedRow

@dataclass(eq=False, repr=False, kw_only=True)
class ShopperCustomer(TypedRow):
    """A row of “customer” of “shoppers”."""

    firstName: str
    lastName: str | None = None
    street: str | None = None
    county: str | None = None
    postCode: str | None = None
    points: int
    status: str | None = None
    tags: list[str] | None = None
    modified: Final[Timestamp | None] = field(init=False, default=None)

    _fields: ClassVar[dict[str, tuple[str, Any, str]]] = {
        "firstName": ("firstName", None, "write"),
        "lastName": ("lastName", None, "write"),
        "street": ("street", None, "write"),
        "county": ("county", None, "write"),
        "postCode": ("postCode", None, "write"),
        "points": ("points", int, "write"),
        "status": ("status", None, "write"),
        "tags": ("tags", None, "write"),
        "modified": ("modified", Timestamp, "read"),
    }


@dataclass(eq=False, repr=False, kw_only=True)
class ShopperGrocery(TypedRow):
    """A row of “groceries” of “shoppers”."""

    id: Final[int | str | None] = None
    name: str
    quantity: str | None = None
    aisle: int | str | None = None

    _fields: ClassVar[dict[str, tuple[str, Any, str]]] = {
        "name": ("name", None, "write"),
        "quantity": ("quantity", None, "write"),
        "aisle": ("aisle", None, "write"),
    }


@dataclass(eq=False, repr=False, kw_only=True)
class ShopperCard(TypedRow):
    """A row of “card” of “shoppers”."""

    number: str | None = None

    _fields: ClassVar[dict[str, tuple[str, Any, str]]] = {
        "number": ("number", None, "write"),
    }


@dataclass(eq=False, repr=False, kw_only=True)
class Shopper(TypedRecord):
    """A record of “shoppers”."""

    id: Final[int | str | None] = None
    customer: ShopperCustomer
    groceries: list[ShopperGrocery] = field(default_factory=list)
    card: ShopperCard | None = None

    _sections: ClassVar[dict[str, tuple[str, type[TypedRow], bool]]] = {
        "customer": ("customer", ShopperCustomer, False),
        "groceries": ("groceries", ShopperGrocery, True),
        "card": ("card", ShopperCard, False),
    }


Shoppers = ResourceType("shoppers", Shopper)


@dataclass(eq=False, repr=False, kw_only=True)
class AisleAisle(TypedRow):
    """A row of “aisle” of “aisles”."""

    name: str

    _fields: ClassVar[dict[str, tuple[str, Any, str]]] = {
        "name": ("name", None, "write"),
    }


@dataclass(eq=False, repr=False, kw_only=True)
class Aisle(TypedRecord):
    """A record of “aisles”."""

    id: Final[int | str | None] = None
    aisle: AisleAisle

    _sections: ClassVar[dict[str, tuple[str, type[TypedRow], bool]]] = {
        "aisle": ("aisle", AisleAisle, False),
    }


Aisles = ResourceType("aisles", Aisle)


@dataclass(eq=False, repr=False, kw_only=True)
class OrderOrder(TypedRow):
    """A row of “order” of “orders”."""

    note: str | None = None
    customer: int | str | None = None

    _fields: ClassVar[dict[str, tuple[str, Any, str]]] = {
        "note": ("note", None, "write"),
        "customer": ("customer", None, "write"),
    }


@dataclass(eq=False, repr=False, kw_only=True)
class Order(TypedRecord):
    """A record of “orders”."""

    id: Final[str | None]  # the database does not number these records
    order: OrderOrder

    _sections: ClassVar[dict[str, tuple[str, type[TypedRow], bool]]] = {
        "order": ("order", OrderOrder, False),
    }


Orders = ResourceType("orders", Order)

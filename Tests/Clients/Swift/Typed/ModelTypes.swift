// Written by “fieldmerge types --language swift”. Do not edit.
// swift-format-ignore-file
public import FieldMergeClient

/// The resource “shoppers”, for `store.of(Shoppers)`.
public let Shoppers = ResourceType<Shopper>("shoppers")

/// A record of “shoppers”.
public struct Shopper: TypedRecord {
    public let id: TypedID<Shopper>
    public var customer: ShopperCustomer
    public var groceries: [ShopperGrocery]
    public var card: ShopperCard?

    public init(id: TypedID<Shopper> = .temporary(), customer: ShopperCustomer, groceries: [ShopperGrocery] = [], card: ShopperCard? = nil) {
        self.id = id
        self.customer = customer
        self.groceries = groceries
        self.card = card
    }

    public func write(to edit: inout RecordEdit) throws {
        try edit.write(customer, to: "customer")
        try edit.write(groceries, to: "groceries")
        try edit.write(card, to: "card")
    }
}

/// A row of “customer” of “shoppers”.
public struct ShopperCustomer: TypedRow {
    public var firstName: String
    public var lastName: String?
    public var street: String?
    public var county: String?
    public var postCode: String?
    public var points: Int
    public var status: String?
    public var tags: [String]?
    public let modified: Timestamp?

    public init(firstName: String, lastName: String? = nil, street: String? = nil, county: String? = nil, postCode: String? = nil, points: Int, status: String? = nil, tags: [String]? = nil) {
        self.firstName = firstName
        self.lastName = lastName
        self.street = street
        self.county = county
        self.postCode = postCode
        self.points = points
        self.status = status
        self.tags = tags
        self.modified = nil
    }
}

/// A row of “groceries” of “shoppers”.
public struct ShopperGrocery: TypedRow {
    public let id: TypedID<ShopperGrocery>?
    public var name: String
    public var quantity: String?
    public var aisle: TypedID<Aisle>?

    public init(id: TypedID<ShopperGrocery>? = nil, name: String, quantity: String? = nil, aisle: TypedID<Aisle>? = nil) {
        self.id = id
        self.name = name
        self.quantity = quantity
        self.aisle = aisle
    }
}

/// A row of “card” of “shoppers”.
public struct ShopperCard: TypedRow {
    public var number: String?

    public init(number: String? = nil) {
        self.number = number
    }
}

/// The resource “aisles”, for `store.of(Aisles)`.
public let Aisles = ResourceType<Aisle>("aisles")

/// A record of “aisles”.
public struct Aisle: TypedRecord {
    public let id: TypedID<Aisle>
    public var aisle: AisleAisle

    public init(id: TypedID<Aisle> = .temporary(), aisle: AisleAisle) {
        self.id = id
        self.aisle = aisle
    }

    public func write(to edit: inout RecordEdit) throws {
        try edit.write(aisle, to: "aisle")
    }
}

/// A row of “aisle” of “aisles”.
public struct AisleAisle: TypedRow {
    public var name: String

    public init(name: String) {
        self.name = name
    }
}

/// The resource “orders”, for `store.of(Orders)`.
public let Orders = ResourceType<Order>("orders")

/// A record of “orders”.
public struct Order: TypedRecord {
    public let id: TypedID<Order>
    public var order: OrderOrder

    public init(id: TypedID<Order>, order: OrderOrder) {
        self.id = id
        self.order = order
    }

    public func write(to edit: inout RecordEdit) throws {
        try edit.write(order, to: "order")
    }
}

/// A row of “order” of “orders”.
public struct OrderOrder: TypedRow {
    public var note: String?
    public var customer: TypedID<Shopper>?

    public init(note: String? = nil, customer: TypedID<Shopper>? = nil) {
        self.note = note
        self.customer = customer
    }
}

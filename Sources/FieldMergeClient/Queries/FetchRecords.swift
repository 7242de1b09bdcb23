public import Observation

/// The last element of a sequence, for views that observe it, such as those of SwiftUI.
@MainActor @Observable
public final class ObservedValue<Value: Sendable> {
    /// The last element; an empty value before the first one.
    public private(set) var current: Value
    /// True as soon as there was an element.
    public private(set) var isLoaded = false
    /// The error of the query; nil if there is none.
    public let error: (any Error)?
    @ObservationIgnored private var following: Task<Void, Never>?

    init<Values: AsyncSequence & Sendable>(_ empty: Value, _ values: () throws -> Values)
    where Values.Element == Value, Values.Failure == Never {
        current = empty
        do {
            let values = try values()
            error = nil
            following = Task { [weak self] in
                for await value in values {
                    guard let self else { return }
                    self.current = value
                    self.isLoaded = true
                }
            }
        } catch {
            self.error = error
        }
    }

    deinit { following?.cancel() }
}

/// The result of a live query in an observable model: `@ObservationIgnored @FetchRecords var orders`, which
/// `_orders = FetchRecords(RecordQuery("orders", limit: 50), in: store)` begins.
///
/// Views that read it are updated. `$orders` has `isLoaded` and `error`.
@MainActor @propertyWrapper
public struct FetchRecords {
    /// The observed result.
    public let projectedValue: ObservedValue<QueryResult>
    /// The last result; empty before the first one.
    public var wrappedValue: QueryResult { projectedValue.current }

    /// Begins a live query, which ends with the model.
    public init(_ query: RecordQuery, in store: FieldMergeStore) {
        projectedValue = ObservedValue(QueryResult()) { try store.live(query) }
    }
}

/// A record in an observable model, as `FetchRecords`; nil if there is none.
@MainActor @propertyWrapper
public struct FetchRecord {
    /// The observed record.
    public let projectedValue: ObservedValue<Record?>
    /// The last version of the record; nil if there is none.
    public var wrappedValue: Record? { projectedValue.current }

    /// Begins to observe a record, until the model is deallocated.
    public init(_ resource: String, _ id: some RecordID, in store: FieldMergeStore) {
        projectedValue = ObservedValue(nil) { try store.observe(resource, id) }
    }
}

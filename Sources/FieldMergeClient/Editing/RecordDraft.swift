import Foundation
import Synchronization

/// An open form of a record: `draft.record["customer", "firstName"] = "Bob"`, then `try await draft.save()`.
///
/// Its base is the record when the form opened; later changes do not affect it. Nothing is stored before `save`.
public final class RecordDraft: Sendable {
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    let name = UUID().uuidString
    private let store: FieldMergeStore
    private let state: Mutex<State>

    private struct State {
        var edit: RecordEdit
        /// The record as the store had it when it was compared last.
        var shown: JSONObject?
        let rulesVersion: String
        /// The refused push whose values the form has.
        var restored: Int64?
        /// The changes of that push which no row of the form has.
        var unfit: [RowChange] = []
        /// The last call of `save`.
        var saving: Task<Ticket, any Error>?
        var isSaving = false
    }

    init(
        _ edit: RecordEdit, rulesVersion: String, shown: JSONObject?, restored: Int64? = nil, unfit: [RowChange] = [],
        of store: FieldMergeStore
    ) {
        resource = edit.resource.name
        id = edit.id
        self.store = store
        state = Mutex(
            State(edit: edit, shown: shown, rulesVersion: rulesVersion, restored: restored, unfit: unfit))
        store.forms.withLock { $0.open[name] = OpenForms.WeakDraft(draft: self) }
    }

    deinit { _ = store.forms.withLock { $0.open.removeValue(forKey: name) } }

    /// The record that the user saw; nil for a new record.
    public var base: Record? {
        state.withLock(\.edit).saved
    }

    /// The working copy, which is changed as inside `edit`.
    public var record: RecordEdit {
        get { state.withLock(\.edit) }
        set { state.withLock { $0.edit.takeValues(of: newValue) } }
    }

    /// Saves what has changed since the form opened, or since the last `save`, as one edit.
    ///
    /// - Throws: the errors of `edit`; the form is then still open.
    @discardableResult
    public func save() async throws -> Ticket {
        // A second call saves only changes since the first call.
        let saving = state.withLock { state in
            let earlier = state.saving
            let saving = Task {
                _ = await earlier?.result
                return try await saveOnce()
            }
            state.saving = saving
            return saving
        }
        return try await saving.value
    }

    private func saveOnce() async throws -> Ticket {
        let (draft, restored, unfit) = try state.withLock { state in
            if let fault = state.edit.fault { throw fault }
            state.isSaving = true
            let draft = Draft(edit: state.edit, rulesVersion: state.rulesVersion, isBased: true)
            return (draft, state.restored, state.unfit)
        }
        do {
            let ticket = try await store.commit { try $0.commit(draft, restoring: restored, unfit: unfit) }
            state.withLock { state in
                state.edit.begin(after: draft.edit)
                (state.restored, state.unfit) = (nil, [])
                state.isSaving = false
            }
            await store.compareDrafts([RecordPlace(resource: resource, key: id.key)])
            return ticket
        } catch {
            state.withLock { $0.isSaving = false }
            throw error
        }
    }

    /// Closes the form without unsaved changes.
    public func close() { _ = store.forms.withLock { $0.open.removeValue(forKey: name) } }

    /// The working copy with the fields of its record that are unknown.
    var edit: RecordEdit { state.withLock(\.edit) }

    /// Compares the form with the current record; returns the events of groups that changed in the store.
    ///
    /// - Parameter answered: the rows of unknown fields that the gateway has sent.
    func compare(with record: JSONObject?, answered: [RowChange.Place: JSONObject]) -> [JSONValue] {
        state.withLock { state in
            // The comparison after the `save` includes this record.
            guard !state.isSaving else { return [] }
            state.edit.fill(from: answered)
            let before = state.shown
            state.shown = record
            let (edit, resource) = (state.edit, state.edit.resource)
            return RecordChanges(of: resource, from: edit.before, to: edit.state).rows.flatMap {
                change -> [JSONValue] in
                guard let section = resource.section(named: change.section),
                    let one = change.row(of: before, isList: section.isList),
                    let other = change.row(of: record, isList: section.isList)
                else { return [] }
                return section.groups.compactMap { group in
                    let current = group.fields(of: other)
                    guard let sides = change.groups[group.name], !group.agrees(group.fields(of: one), current),
                        !group.agrees(current, sides.old)
                    else { return nil }
                    var event = group.overtaken(sides, by: current, at: change)
                    event["resource"] = .string(self.resource)
                    event["id"] = id
                    event["draft"] = .string(name)
                    return event
                }
            }
        }
    }

    /// Makes `current` of an event the base, and the working value as well unless the user keeps hers.
    func decide(_ event: JSONValue, isMine: Bool) {
        state.withLock { state in
            guard let section = state.edit.resource.section(named: event["section"].stringValue ?? ""),
                let group = section.group(event["group"].stringValue ?? "")
            else { return }
            let values = group.spread(event["current"])
            func seen(_ record: JSONObject) -> JSONObject {
                RecordChanges([
                    RowChange(
                        section: section.name, item: event["item"].nonNull,
                        step: .edit([group.name: RowChange.GroupSides(old: [:], new: values)]))
                ]).applied(to: record, id: id, of: state.edit.resource) ?? record
            }
            state.edit.before = state.edit.before.map(seen)
            if !isMine { state.edit.restore(seen(state.edit.state)) }
        }
    }
}

/// The open forms of a store.
struct OpenForms {
    /// A weak reference to a form.
    struct WeakDraft {
        weak var draft: RecordDraft?
    }

    var open: [String: WeakDraft] = [:]
    /// The last comparison of the forms with their records.
    var comparison: Task<Void, Never>?
}

extension FieldMergeStore {
    /// Opens a form of a record.
    ///
    /// - Throws: `FieldMergeError.recordNotFound`.
    public func draft(_ resource: String, _ id: some RecordID) async throws -> RecordDraft {
        let id = id.jsonValue
        try await visit(resource, id)
        let (edit, version) = try await file.read { ledger in
            guard let edit = try ledger.edit(of: ledger.resource(resource), id) else {
                throw FieldMergeError.recordNotFound(resource: resource, id: id)
            }
            return (edit, try ledger.rules()?.version ?? "")
        }
        return RecordDraft(edit, rulesVersion: version, shown: edit.before, of: self)
    }

    /// Opens a form with the values of a refused edit.
    func restore(_ push: Int64) async throws -> RecordDraft {
        let (restored, version) = try await file.read { ledger in
            (try ledger.restored(push), try ledger.rules()?.version ?? "")
        }
        let (edit, unfit) = restored
        return RecordDraft(edit, rulesVersion: version, shown: edit.before, restored: push, unfit: unfit, of: self)
    }

    nonisolated func openDraft(_ name: String) -> RecordDraft? { forms.withLock { $0.open[name]?.draft } }

    /// Makes the open forms of changed records report changes in the store; nil for all records.
    nonisolated func compareDrafts(_ touched: Set<RecordPlace>?) async {
        guard forms.withLock({ !$0.open.isEmpty }) else { return }
        // One call after the other: none compares with an older record than the call before it.
        let task = forms.withLock { forms in
            let earlier = forms.comparison
            let task = Task {
                _ = await earlier?.value
                await compareDraftsNow(touched)
            }
            forms.comparison = task
            return task
        }
        await task.value
    }

    private nonisolated func compareDraftsNow(_ touched: Set<RecordPlace>?) async {
        let drafts = forms.withLock { $0.open.values.compactMap(\.draft) }
        for draft in drafts where touched?.contains(where: { $0.resource == draft.resource }) ?? true {
            let edit = draft.edit
            guard
                let (record, answered) = try? await file.read({ ledger in
                    (try ledger.view(edit.resource.name, edit.id), try ledger.answered(edit))
                })
            else { continue }
            let events = draft.compare(with: record, answered: answered)
            guard !events.isEmpty else { continue }
            readers.withLock { $0[.overtaken, default: EventReaders()].tell(events) }
            bells.ring(.events)
        }
    }
}

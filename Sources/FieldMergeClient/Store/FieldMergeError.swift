import MergeCore

/// An edit that the rules do not allow; nothing of it was stored.
public struct InvalidEdit: Error, Sendable, Hashable, CustomStringConvertible {
    /// The place of the fault, such as `customer.postCode` or `groceries[0].quantity`.
    public let path: String
    /// The fault, as the end of a sentence.
    public let detail: String
    /// The probable name, if the edit used an unknown name.
    public let nearest: String?

    /// Describes a fault at a place.
    package init(path: String, detail: String) {
        self.path = path
        self.detail = detail
        nearest = nil
    }

    /// Describes a name that does not exist.
    package init(unknown name: String, among names: some Sequence<String>, path: String) {
        self.path = path
        let found = NearestName.suggestion(for: name, among: names.sorted())
        nearest = found
        detail = "there is no “\(name)”" + (found.map { "; did you mean “\($0)”?" } ?? "")
    }

    /// The place and the fault.
    public var description: String { "\(path): \(detail)" }
}

/// An error of this library; answers of a gateway are in reports and outcomes instead.
public enum FieldMergeError: Error, Sendable, Hashable {
    /// The record to be edited does not exist for this client.
    case recordNotFound(resource: String, id: JSONValue)
    /// The store has no rules yet. Let it sync once, or open it with a snapshot.
    case rulesUnknown
    /// A record of a resource that is not kept was requested, and there was no answer.
    case offline(String)
    /// The gateway refused to send a record of a resource that is not kept.
    case requestRefused(status: Int, problem: JSONValue)
    /// A sign-out would have lost so many edits.
    case unsentEdits(unsent: Int)
    /// The file is the store of a newer version of this library. `exportStore` writes its content.
    case newerStore(String)
    /// The file is the store of another user, or no store at all.
    case wrongStore(String)
    /// The store cannot be written, for example on a full disk; the edit was dropped.
    case storage(String)
    /// The gateway may have the edit: its answer has to be awaited.
    case sending
    /// The base belongs to another record than the edit.
    case otherRecord
    /// All parts of an edit were omitted.
    case nothingLeft
    /// The entry of a restored form was sent again or discarded meanwhile.
    case notRefused
    /// An edit of several records has no form.
    case severalRecords
    /// The file is not a complete snapshot.
    case badSnapshot(String)
    /// The store was closed or signed out of.
    case storeClosed

    /// The code of the error in all client libraries; nil if they have none.
    public var code: String? {
        switch self {
        case .storage: "storage"
        case .sending: "sending"
        case .otherRecord: "other-record"
        case .nothingLeft: "nothing-left"
        case .severalRecords: "several-records"
        case .notRefused: "not-refused"
        case .newerStore: "newer-store"
        default: nil
        }
    }

    /// The number of edits that a sign-out would have lost; nil for any other error.
    public var unsent: Int? {
        if case .unsentEdits(let unsent) = self { unsent } else { nil }
    }
}

extension FieldMergeError: CustomStringConvertible {
    /// The error as a sentence.
    public var description: String {
        switch self {
        case .recordNotFound(let resource, let id): "there is no record \(id) of \(resource)"
        case .rulesUnknown: "the rules are not known yet: let the store sync once"
        case .offline(let reason): "there is no answer: \(reason)"
        case .requestRefused(let status, let problem):
            "\(status): \(problem["detail"].stringValue ?? problem["title"].stringValue ?? "no details")"
        case .unsentEdits(let unsent): unsent == 1 ? "1 edit is not sent yet" : "\(unsent) edits are not sent yet"
        case .wrongStore(let reason), .newerStore(let reason): reason
        case .badSnapshot(let reason): reason
        case .storage(let reason): "the store cannot be written: \(reason)"
        case .sending: "the gateway may have it: wait for the answer"
        case .otherRecord: "the base is another record"
        case .nothingLeft: "nothing is left to send"
        case .severalRecords: "the edit has several records: send it again or discard it"
        case .notRefused: "the refused edit of this form was sent again or discarded"
        case .storeClosed: "the store is closed"
        }
    }
}

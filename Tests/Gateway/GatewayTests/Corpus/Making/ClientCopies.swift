import TestSupport

/// The records that the clients of a chapter have read.
///
/// Each client has copies, which become stale when other clients write.
struct ClientCopies: Sendable {
    struct Copy: Sendable {
        let id: String
        /// The record as it was read last.
        var record: JSON
        var isGone = false
    }

    static let clients = 3
    /// By client and resource, in the order of the first read.
    private var copies: [[String: [Copy]]] = Array(repeating: [:], count: clients)
    /// Numbers of journal entries.
    private(set) var entries: [Int] = []

    func copies(_ client: Int, _ resource: String) -> [Copy] { copies[client][resource] ?? [] }

    /// The ids of a resource that any client has read.
    func ids(_ resource: String) -> [String] {
        var ids: [String] = []
        for client in copies { for copy in client[resource] ?? [] where !ids.contains(copy.id) { ids.append(copy.id) } }
        return ids
    }

    /// Notes a record that a client has read.
    mutating func note(_ record: JSON, _ resource: String, client: Int) {
        guard let id = record["id"]?.description else { return }
        let copy = Copy(id: id, record: record)
        if let index = copies[client][resource]?.firstIndex(where: { $0.id == id }) {
            copies[client][resource]?[index] = copy
        } else {
            copies[client][resource, default: []].append(copy)
        }
    }

    /// Marks a record as missing.
    ///
    /// The client keeps its copy.
    mutating func noteGone(_ id: String, _ resource: String, client: Int) {
        guard let index = copies[client][resource]?.firstIndex(where: { $0.id == id }) else { return }
        copies[client][resource]?[index].isGone = true
    }

    mutating func noteEntry(_ number: Int) {
        if !entries.contains(number) { entries.append(number) }
    }
}

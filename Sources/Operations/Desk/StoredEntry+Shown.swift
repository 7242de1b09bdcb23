package import MergeCore
package import MergeService
package import MergeWire
package import RecordStore

extension StoredEntry {
    /// The complete entry, for the console.
    package var shown: ShownEntry { shown(to: nil, of: nil) }

    /// Returns the parts of the entry that an operator may see.
    ///
    /// - Parameter access: the rights of the operator; nil for an operator who may read everything.
    package func shown(to access: ClientAccess?, of catalog: Catalog?) -> ShownEntry {
        let viewer = access?.viewer
        // A push may contain values of each resource.
        let isWhollyReadable = catalog?.isWhollyReadable(by: access) ?? (viewer == nil)
        return ShownEntry(
            number: number, at: at, who: sender.who, device: sender.device, key: key,
            edit: entry.map {
                ShownEdit(
                    resource: $0.resource, status: $0.status, rules: $0.rules,
                    content: content($0, to: viewer, of: catalog))
            },
            bareEntry: bareEntry,
            refused: refused.map {
                ShownRefusal(
                    address: $0.address, reason: $0.reason,
                    body: isWhollyReadable ? $0.body : Array("null".utf8),
                    replayed: replayed, dropped: dropped)
            })
    }

    private var dropped: (at: String, by: String)? {
        if case .dropped(let at, let by)? = settlement { (at, by) } else { nil }
    }

    private func content(_ entry: JournalEntry, to viewer: Viewer?, of catalog: Catalog?) -> [UInt8] {
        guard let viewer else { return EntryView.shown(entry.body) }
        return EntryView.shown(entry.body, of: catalog?[entry.resource], to: viewer)
    }

    /// The entry in the form of `GET /v1/journal/{n}`.
    package var json: [UInt8] { JournalEncoder.one(shown) }
}

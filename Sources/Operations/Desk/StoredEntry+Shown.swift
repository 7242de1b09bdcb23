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
        return ShownEntry(
            number: number, at: at, who: sender.who, device: sender.device, key: key,
            edit: entry.map {
                ShownEdit(
                    resource: $0.resource, status: $0.status, rules: $0.rules, content: content($0, viewer, catalog))
            },
            bareEntry: bareEntry,
            refused: refused.map {
                ShownRefusal(
                    address: $0.address, reason: $0.reason,
                    body: mayRead($0, viewer, catalog) ? $0.body : Array("null".utf8),
                    replayed: replayed)
            })
    }

    private func content(_ entry: JournalEntry, _ viewer: Viewer?, _ catalog: Catalog?) -> [UInt8] {
        guard let viewer else { return EntryView.shown(entry.body) }
        return EntryView.shown(entry.body, of: catalog?[entry.resource], to: viewer)
    }

    /// Returns true only if the viewer sees every resource completely, because a push may contain values of each.
    private func mayRead(_ refused: RefusedBody, _ viewer: Viewer?, _ catalog: Catalog?) -> Bool {
        guard let viewer, let catalog else { return viewer == nil }
        return catalog.resources.allSatisfy { viewer.view(of: $0)?.seesEverything ?? true }
    }

    /// The entry in the form of `GET /v1/journal/{n}`.
    package var json: [UInt8] { JournalEncoder.one(shown) }
}

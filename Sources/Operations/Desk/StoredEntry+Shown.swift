package import MergeCore
package import MergeService
package import MergeWire
package import RecordStore

extension StoredEntry {
    /// The entry as it is shown at the console.
    package var shown: ShownEntry { shown(to: nil, of: nil) }

    /// Returns the entry as it is shown.
    ///
    /// - Parameters:
    ///   - access: the rights of the operator; nil for one who may read everything.
    ///   - catalog: the rules that are served.
    package func shown(to access: ClientAccess?, of catalog: Catalog?) -> ShownEntry {
        let viewer = access?.viewer
        return ShownEntry(
            number: number, at: at, who: sender.who, device: sender.device, key: key,
            edit: entry.map {
                ShownEdit(
                    resource: $0.resource, status: $0.status, rules: $0.rules, content: content($0, viewer, catalog))
            },
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

    /// A push may hold values of any resource that it names, so one that may not be read whole hides it.
    private func mayRead(_ refused: RefusedBody, _ viewer: Viewer?, _ catalog: Catalog?) -> Bool {
        guard let viewer, let catalog else { return viewer == nil }
        return catalog.resources.allSatisfy { viewer.view(of: $0)?.seesEverything ?? true }
    }

    /// The entry as `GET /v1/journal/{n}` answers it.
    package var json: [UInt8] { JournalEncoder.one(shown) }
}

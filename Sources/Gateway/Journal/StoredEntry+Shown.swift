package import MergeWire
package import RecordStore

extension StoredEntry {
    /// The entry as it is shown.
    package var shown: ShownEntry {
        ShownEntry(
            number: number, at: at, who: sender.who, device: sender.device, key: key, resource: entry?.resource,
            status: entry?.status, rules: entry?.rules, content: entry.map { EntryView.shown($0.body) },
            refused: refused.map {
                ShownRefusal(address: $0.address, reason: $0.reason, body: $0.body, replayed: replayed)
            })
    }
}

package import MergeWire
package import RecordStore

extension StoredEntry {
    /// The entry as it is shown.
    package var shown: ShownEntry {
        ShownEntry(
            number: number, at: at, who: sender.who, device: sender.device, key: key,
            edit: entry.map {
                ShownEdit(
                    resource: $0.resource, status: $0.status, rules: $0.rules, content: EntryView.shown($0.body))
            },
            refused: refused.map {
                ShownRefusal(address: $0.address, reason: $0.reason, body: $0.body, replayed: replayed)
            })
    }

    /// The entry as `GET /v1/journal/{n}` answers it.
    package var json: [UInt8] { JournalEncoder.one(shown) }
}

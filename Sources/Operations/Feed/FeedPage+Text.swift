package import ChangeFeed
package import MergeWire
import RecordStore

extension FeedPage {
    /// Returns the page in its form for clients.
    ///
    /// - Parameter saysMore: false for an event, which further events follow anyway.
    package func text(rules: String, saysMore: Bool = true) -> ChangesText {
        ChangesText(
            feed: feed, revision: revision, hasMore: saysMore ? hasMore : nil, rules: rules,
            changes: changes.map { change in
                ChangeText(
                    revision: change.revision, record: change.record,
                    author: change.push.map { push in
                        ChangeText.Author(
                            who: push.sender.who.isEmpty ? nil : push.sender.who, device: push.sender.device,
                            entry: push.entry)
                    })
            })
    }
}

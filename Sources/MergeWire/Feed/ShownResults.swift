package import MergeCore

/// The records that an answer which is told again shows.
package enum ShownResults {
    /// A record as it stands in an answer.
    package struct Shown: Sendable {
        /// The resource of the record.
        package let resource: Resource
        /// The key of the record.
        package let key: RecordKey
        /// The record as `text(of:)` spells it; nil where it was gone.
        package let text: String?
    }

    /// Returns the records of an answer to a push; none where it is no such answer.
    package static func records(in answer: [UInt8], of catalog: Catalog) -> [Shown] {
        let found = try? answer.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: 2_000) { root throws(Problem) in
                (root["results"]?.elements ?? [root]).compactMap { shown($0, catalog) }
            }
        }
        return found ?? []
    }

    private static func shown(_ node: JSONNode, _ catalog: Catalog) -> Shown? {
        guard let resource = node["resource"]?.string.flatMap({ catalog[$0] }), let record = node["record"],
            let key = node["id"].flatMap({ EntryReader.key($0, resource.root) })
        else { return nil }
        return Shown(resource: resource, key: key, text: record.isNull ? nil : record.text)
    }

    /// Returns a record, as `RecordEncoder` writes it, in the spelling in which two can be compared.
    package static func text(of record: [UInt8]) -> String? {
        try? record.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: 2_000) { root throws(Problem) in root.text }
        }
    }
}

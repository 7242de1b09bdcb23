package import MergeCore

/// The records that a stored answer contains.
package enum ShownResults {
    /// A record in an answer.
    package struct Shown: Sendable {
        /// The resource of the record.
        package let resource: Resource
        /// The key of the record.
        package let key: RecordKey
        /// The record in the form of `text(of:)`, or nil if it was gone.
        package let text: String?
    }

    /// Returns the records of an answer to a push, or none for any other answer.
    package static func records(in answer: [UInt8], of catalog: Catalog) -> [Shown] {
        let found = JSONDocument.stored(answer) { root in
            (root["results"]?.elements ?? [root]).compactMap { shown($0, under: catalog) }
        }
        return found ?? []
    }

    private static func shown(_ node: JSONNode, under catalog: Catalog) -> Shown? {
        guard let resource = node["resource"]?.string.flatMap({ catalog[$0] }), let record = node["record"],
            let key = node["id"].flatMap({ EntryReader.key($0, resource.root) })
        else { return nil }
        return Shown(resource: resource, key: key, text: record.isNull ? nil : record.text)
    }

    /// Returns a record of `RecordEncoder` in a form that can be compared.
    package static func text(of record: [UInt8]) -> String? {
        JSONDocument.stored(record) { root in root.text }
    }
}

package import MergeCore

/// The answer of `POST /v1/sync`.
package struct SyncEncoder {
    private var results: [[UInt8]] = []

    /// Begins an answer.
    package init() {}

    /// Adds the JSON answer to a push, with its HTTP status.
    package mutating func add(_ body: [UInt8], code: Int) {
        results.append(Array(body.dropLast()) + Array(",\"code\":\(code)}".utf8))
    }

    /// Adds a push that has no result.
    package mutating func add(key: String?, _ problem: Problem) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("key")
            if let key { writer.string(key) } else { writer.null() }
            writer.member("status")
            writer.string(PushStatus.failed.rawValue)
            writer.member("code")
            writer.integer(ProblemHead(problem).status)
            writer.member("results")
            writer.array { _ in }
            writer.member("problem")
            ProblemEncoder.write(problem, to: &writer)
        }
        results.append(writer.bytes)
    }

    /// Returns the answer with changes.
    package func encode(_ page: ChangesText) -> [UInt8] {
        encode { ChangesEncoder.members(page, &$0) }
    }

    /// Returns the answer without changes, with the reason and the latest feed and revision, if any.
    package func encode(_ problem: Problem, feed: (id: String, revision: Int)?, rules: String) -> [UInt8] {
        encode { writer in
            writer.member("feed")
            if let feed { writer.string(feed.id) } else { writer.null() }
            writer.member("revision")
            if let feed { writer.integer(feed.revision) } else { writer.null() }
            writer.member("more")
            writer.flag(false)
            writer.member("rules")
            writer.string(rules)
            writer.member("changes")
            writer.null()
            writer.member("problem")
            ProblemEncoder.write(problem, to: &writer)
        }
    }

    private func encode(_ rest: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(capacity: 1_024 + results.reduce(0) { $0 + $1.count + 1 })
        writer.object { writer in
            writer.member("results")
            writer.array { writer in
                for result in results { writer.raw(result) }
            }
            rest(&writer)
        }
        return writer.bytes
    }
}

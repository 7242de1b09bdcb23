package import MergeCore

/// Problem documents (RFC 9457).
package enum ProblemEncoder {
    /// Returns a problem as a JSON document.
    ///
    /// - Parameter request: the id of the request, the document's `instance`. Documents of `no-token` have none: their
    ///   bodies are all the same.
    package static func encode(_ problem: Problem, under head: ProblemHead, request: String) -> [UInt8] {
        var writer = JSONWriter()
        write(problem, under: head, request: problem.code == .noToken ? nil : request, to: &writer)
        return writer.bytes
    }

    static func write(_ problem: Problem, to writer: inout JSONWriter) {
        write(problem, under: ProblemHead(problem), to: &writer)
    }

    private static func write(
        _ problem: Problem, under head: ProblemHead, request: String? = nil, to writer: inout JSONWriter
    ) {
        writer.object { writer in
            writer.member("type")
            writer.string("urn:fieldmerge:problem:" + problem.code.rawValue)
            writer.member("title")
            writer.string(head.title)
            writer.member("status")
            writer.integer(head.status)
            writer.member("detail")
            writer.string(problem.detail)
            writer.member("code")
            writer.string(problem.code.rawValue)
            text("instance", text: request, to: &writer)
            text("path", text: problem.path?.text, to: &writer)
            if let retry = problem.retry {
                writer.member("retry")
                writer.flag(retry.isLater)
            }
            text("constraint", text: problem.constraint, to: &writer)
            text("rule", text: problem.rule?.text, to: &writer)
            text("index", text: problem.index, to: &writer)
            if !problem.fields.isEmpty || problem.index != nil {
                writer.member("fields")
                writer.array { writer in
                    for field in problem.fields { writer.string(field) }
                }
            }
            if let upgrade = problem.upgrade {
                writer.member("minimum")
                writer.string(upgrade.minimum)
                text("message", text: upgrade.message, to: &writer)
                text("link", text: upgrade.link, to: &writer)
            }
            if let feed = problem.feed {
                writer.member("feed")
                writer.string(feed.feed)
                writer.member("earliest")
                writer.integer(feed.earliest)
            }
            if let place = problem.rowInTheWay {
                writer.member("record")
                self.place(place, to: &writer)
            }
        }
    }

    private static func text(_ name: String, text: String?, to writer: inout JSONWriter) {
        guard let text, !text.isEmpty else { return }
        writer.name(name)
        writer.string(text)
    }

    private static func place(_ place: RowPlace, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("resource")
            writer.string(place.resource.name)
            writer.member("id")
            writer.key(place.record, place.resource.root)
            guard let section = place.section else { return }
            writer.member("section")
            writer.string(place.resource.sections[section].name)
            if let item = place.item {
                writer.member("item")
                writer.key(item, place.resource.sections[section])
            }
        }
    }
}

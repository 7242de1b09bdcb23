package import MergeCore

/// Problem documents (RFC 9457).
package enum ProblemEncoder {
    package static func encode(_ problem: Problem) -> [UInt8] {
        var writer = JSONWriter()
        write(problem, &writer)
        return writer.bytes
    }

    static func write(_ problem: Problem, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("type")
            writer.string("urn:fieldmerge:problem:" + problem.code)
            writer.name("title")
            writer.string(problem.title)
            writer.name("status")
            writer.integer(problem.status)
            writer.name("detail")
            writer.string(problem.detail)
            writer.name("code")
            writer.string(problem.code)
            text("path", problem.path?.text, &writer)
            if let retry = problem.retry {
                writer.name("retry")
                writer.flag(retry)
            }
            text("constraint", problem.constraint, &writer)
            text("index", problem.index, &writer)
            if !problem.fields.isEmpty || problem.index != nil {
                writer.name("fields")
                writer.array { writer in
                    for field in problem.fields { writer.string(field) }
                }
            }
            if let place = problem.rowInTheWay {
                writer.name("record")
                self.place(place, &writer)
            }
        }
    }

    private static func text(_ name: String, _ text: String?, _ writer: inout JSONWriter) {
        guard let text, !text.isEmpty else { return }
        writer.name(name)
        writer.string(text)
    }

    private static func place(_ place: RowPlace, _ writer: inout JSONWriter) {
        writer.object { writer in
            writer.name("resource")
            writer.string(place.resource.name)
            writer.name("id")
            writer.key(place.record, place.resource.root)
            guard let section = place.section else { return }
            writer.name("section")
            writer.string(place.resource.sections[section].name)
            if let item = place.item {
                writer.name("item")
                writer.key(item, place.resource.sections[section])
            }
        }
    }
}

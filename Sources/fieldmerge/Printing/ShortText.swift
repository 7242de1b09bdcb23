/// Fits texts into the width of a terminal.
enum ShortText {
    private static let mark = "…"

    static func beginning(of text: String, in width: Int) -> String {
        text.count > width ? text.prefix(width - 1) + mark : text
    }

    /// Shortens texts that are compared with each other.
    ///
    /// If the long ones have a long common beginning, it is left out, so that the difference is visible.
    static func telling(_ texts: [String], in width: Int) -> [String] {
        let long = Set(texts.filter { $0.count > width })
        guard let first = long.first else { return texts }
        let common = long.map { text in zip(first, text).prefix { $0 == $1 }.count }.min() ?? 0
        guard long.count > 1, common >= width - 1 else { return texts.map { beginning(of: $0, in: width) } }
        return texts.map { text in
            guard text.count > width else { return text }
            return mark + beginning(of: String(text.dropFirst(common - width / 2)), in: width - 1)
        }
    }

    /// Breaks the text between words; each line after the first is indented twice.
    static func wrapped(_ text: String, in width: Int, indent: String) -> [String] {
        var lines: [String] = []
        var line = indent
        var isFresh = true
        for word in text.split(separator: " ") {
            if !isFresh, line.count + word.count >= width {
                lines.append(line)
                line = indent + indent
                isFresh = true
            }
            line += (isFresh ? "" : " ") + word
            isFresh = false
        }
        return lines + [line]
    }
}

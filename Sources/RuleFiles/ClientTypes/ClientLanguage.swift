/// A language for which `fieldmerge types` writes types.
package enum ClientLanguage: String, CaseIterable, Sendable {
    case typescript, swift, python

    /// Names that no type may have, because the file or its language uses them.
    var takenTypes: Set<String> {
        switch self {
        case .typescript:
            [
                "Base64", "CalendarDate", "Decimal", "EditableList", "JSONValue", "LocalDateTime", "NewRow", "Omit",
                "Pick",
                "Timestamp", "TimeSpan", "TypedRecord", "Array", "Object", "String", "Number", "Boolean", "Symbol",
            ]
        case .swift:
            [
                "Any", "Array", "Bool", "CalendarDate", "CodingKey", "CodingKeys", "Data", "Decimal", "Double",
                "Foundation",
                "FieldMergeClient", "Int", "JSONValue", "LocalDateTime", "Never", "Optional", "Protocol", "Record",
                "RecordEdit", "ResourceType", "Self", "Set", "String", "Timestamp", "TimeSpan", "Type", "TypedID",
                "TypedRecord",
                "TypedRow", "TypedMember", "UInt64", "Void", "Error", "Result", "Task",
            ]
        case .python:
            [
                "Any", "CalendarDate", "ClassVar", "Decimal", "Final", "JSONValue", "Literal", "LocalDateTime", "None",
                "ResourceType", "Timestamp", "TimeSpan", "True", "False", "TypeAlias", "TypedRecord", "TypedRow",
            ]
        }
    }

    /// Names that no property may have as they are.
    var takenProperties: Set<String> {
        switch self {
        case .typescript: []
        // An optional has the members “none” and “some”.
        case .swift: takenTypes.union(["init", "self", "none", "some"])
        case .python:
            takenTypes.union([
                "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
                "except",
                "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not", "or",
                "pass",
                "raise", "return", "try", "while", "with", "yield", "bool", "bytes", "dataclass", "dict", "field",
                "float",
                "int", "list", "str", "ticket", "from_base64",
            ])
        }
    }
}

extension ClientLanguage {
    /// Words of Swift that are names between backticks.
    static let swiftKeywords: Set<String> = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else",
        "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in",
        "inout",
        "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
        "rethrows",
        "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias",
        "var",
        "where", "while",
    ]
}

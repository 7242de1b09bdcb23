import Foundation
import MergeCore

/// JSON of an answer, for looking things up in it.
package struct JSON: Sendable, Equatable, CustomStringConvertible {
    private indirect enum Content: Sendable, Equatable {
        case null, bool(Bool), number(Double), text(ExactText), array([JSON]), object([String: JSON])
    }

    private let content: Content

    package init(_ bytes: [UInt8]) throws {
        self.init(any: try JSONSerialization.jsonObject(with: Data(bytes), options: [.fragmentsAllowed]))
    }

    package init(_ text: String) throws { try self.init(Array(text.utf8)) }

    package init(text: String) { content = .text(ExactText(text)) }

    private init(any value: Any) {
        switch value {
        case let number as NSNumber:
            content = CFBooleanLike.isBool(number) ? .bool(number.boolValue) : .number(number.doubleValue)
        case let text as String: content = .text(ExactText(text))
        case let array as [Any]: content = .array(array.map { JSON(any: $0) })
        case let object as [String: Any]: content = .object(object.mapValues { JSON(any: $0) })
        default: content = .null
        }
    }

    package subscript(name: String) -> JSON? {
        if case .object(let members) = content { members[name] } else { nil }
    }

    package subscript(index: Int) -> JSON? {
        if case .array(let elements) = content, elements.indices.contains(index) { elements[index] } else { nil }
    }

    package var isNull: Bool { content == .null }
    package var text: String? { if case .text(let text) = content { text.string } else { nil } }
    package var bool: Bool? { if case .bool(let flag) = content { flag } else { nil } }
    package var int: Int? { if case .number(let number) = content { Int(exactly: number) } else { nil } }
    package var isNumber: Bool { if case .number = content { true } else { false } }
    package var isArray: Bool { if case .array = content { true } else { false } }
    package var isObject: Bool { if case .object = content { true } else { false } }
    package var array: [JSON] { if case .array(let elements) = content { elements } else { [] } }
    package var object: [String: JSON] { if case .object(let members) = content { members } else { [:] } }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = []
        JSONQuoting.append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value as JSON, members in the order of their names.
    package var description: String {
        switch content {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let number): Int(exactly: number).map { "\($0)" } ?? "\(number)"
        case .text(let text): Self.quoted(text.string)
        case .array(let elements): "[" + elements.map(\.description).joined(separator: ",") + "]"
        case .object(let members):
            "{" + members.sorted { $0.key < $1.key }.map { "\(Self.quoted($0)):\($1)" }.joined(separator: ",") + "}"
        }
    }
}

private enum CFBooleanLike {
    /// NSNumber keeps JSON's true and false apart from 1 and 0 by the type that it encodes.
    static func isBool(_ number: NSNumber) -> Bool { String(cString: number.objCType) == "c" }
}

import MergeCore
internal import Yams

/// A constant as written, whose type depends on the column.
struct RuleConstant: Sendable, Hashable {
    let text: String
    /// The constant as a number or a Boolean, or nil if it was quoted or is neither.
    private let plain: Scalar?

    init?(_ node: Node) {
        guard let scalar = node.scalar else { return nil }
        text = scalar.string
        guard scalar.style == .plain || scalar.style == .any else {
            plain = nil
            return
        }
        if let flag = node.bool {
            plain = .boolean(flag)
        } else {
            // Yams reads 1:30 as a base-60 number, and its sum traps on overflow.
            plain = text.utf8.contains(UInt8(ascii: ":")) ? nil : node.int.map { .integer(Int64($0)) }
        }
    }

    /// Returns the constant as a value of a column, or nil if the column cannot store it.
    func value(in type: ColumnType) -> Value? {
        for scalar in [plain, .text(text)] {
            guard let scalar, let value = try? type.accept(scalar), !value.isNull else { continue }
            return value
        }
        return nil
    }
}

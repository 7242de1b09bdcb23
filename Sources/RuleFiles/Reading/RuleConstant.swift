import MergeCore
internal import Yams

/// A constant as written: YAML tells a number from a text by its form, and the column decides which was meant.
struct RuleConstant: Sendable, Hashable {
    let text: String
    /// The constant as a number or a flag; nil where it was quoted or looks like neither.
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
            // Yams reads 1:30 as a number to the base 60, and its sum traps on overflow.
            plain = text.utf8.contains(UInt8(ascii: ":")) ? nil : node.int.map { .integer(Int64($0)) }
        }
    }

    /// Returns the constant as a column holds it; nil where it cannot.
    func value(in type: ColumnType) -> Value? {
        for scalar in [plain, .text(text)] {
            guard let scalar, let value = try? type.accept(scalar), !value.isNull else { continue }
            return value
        }
        return nil
    }
}

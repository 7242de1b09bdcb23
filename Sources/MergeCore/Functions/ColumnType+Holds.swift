extension ColumnType {
    /// Returns true if the column stores a computed value without trimming, rounding or reordering it.
    ///
    /// The result is false for spatial columns, which are read-only, and for every value that `forbidsWriting` refuses.
    /// The caller checks NULL, as in `accept`.
    package func holds(_ value: Value) -> Bool {
        guard forbidsWriting(value) == nil else { return false }
        return switch (self, value) {
        case (_, .null), (.boolean, .boolean), (.coded, .boolean), (.date, .date), (.enumeration, .text): true
        case (.integer(let range), .integer(let number)): range.contains(number)
        case (.bit(let width), .integer(let number)): number >= 0 && number >> width == 0
        case (.year, .integer(let number)): number == 0 || (1_901...2_155).contains(number)
        case (.decimal(let precision, let scale, let isUnsigned), .decimal(let number)):
            number.fractionDigits <= scale && number.integerDigits <= precision - scale
                && !(isUnsigned && number.isNegative)
        case (.numeric, .decimal(let number)): (try? Scalar.number(number).numeric()) != nil
        case (.float(let isUnsigned, let digits), .float(let number)):
            ExactDecimal(shortest: number).map { !(isUnsigned && number < 0) && digits?.hold($0, number) ?? true }
                ?? false
        case (.double(let isUnsigned, let digits), .double(let number)):
            ExactDecimal(shortest: number).map { !(isUnsigned && number < 0) && digits?.hold($0, number) ?? true }
                ?? false
        case (.text(let type), .text(let text)): type.holds(text)
        case (.uuid, .text(let text)): (try? Scalar.text(text.string).uuid()) == text
        case (.set, .members(let members)): arranged(members) == members
        case (.delimitedSet(let separator, let type), .members(let members)):
            Self.holds(members, separator: separator, type)
        case (.dateTime(let digits), .dateTime(let moment)): Self.isWhole(moment.microseconds, digits: digits)
        case (.timestamp(let digits, let range), .dateTime(let moment)):
            Self.isWhole(moment.microseconds, digits: digits)
                && (range?.contains(moment) ?? true || (moment.date.isZero && moment.microseconds == 0))
        case (.time(let digits), .time(let span)): Self.isWhole(span.microseconds, digits: digits)
        case (.binary(let length), .bytes(let bytes)): bytes.count == length
        case (.bytes(let maximum), .bytes(let bytes)): bytes.count <= maximum ?? .max
        case (.inet4, .address(let address)): address.bytes.count == 4
        case (.inet6, .address(let address)): address.bytes.count == 16
        case (.json(let type), .json(let tree)): (try? type.fitted(tree.text, isJSON: true)) == ExactText(tree.text)
        default: false
        }
    }

    /// Returns the members in the order of a SET column, without undeclared ones, else in the given order, each once.
    package func arranged(_ members: [ExactText]) -> [ExactText] {
        if case .set(let allowed) = self {
            let present = Set(members)
            return allowed.filter(present.contains)
        }
        var seen: Set<ExactText> = []
        return members.filter { seen.insert($0).inserted }
    }

    private static func holds(_ members: [ExactText], separator: String, _ type: TextType) -> Bool {
        let sent = Scalar.array(members.map { .text($0.string) })
        guard (try? sent.members(separator: separator, type: type)) == members else { return false }
        // A separator that overlaps itself could match across two members.
        let text = members.map(\.string).joined(separator: separator)
        return type.holds(ExactText(text)) && Scalar.split(text, separator) == members
    }

    private static func isWhole(_ microseconds: Int64, digits: Int) -> Bool {
        var unit: Int64 = 1
        for _ in min(digits, 6)..<6 { unit *= 10 }
        return microseconds % unit == 0
    }
}

extension TextType {
    fileprivate func holds(_ text: ExactText) -> Bool { (try? fitted(text.string)) == text }
}

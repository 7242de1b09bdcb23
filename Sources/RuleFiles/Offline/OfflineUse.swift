/// The use of a column in the rules, which limits its type.
enum OfflineUse: Sendable, Hashable {
    /// No function reads the values.
    case plain
    case add
    /// `max` and `min`.
    case order
    case set
    case text
    case json
    /// The field of `latest`.
    case time
    /// The rules name the type.
    case named(String)

    init(_ field: RuleField, in group: RuleGroup) {
        if let type = field.type {
            self = .named(type.value)
            return
        }
        switch group.merge?.value {
        case .plain(.add): self = .add
        case .plain(.max), .plain(.min): self = .order
        case .plain(.set): self = .set
        case .plain(.text): self = .text
        case .plain(.json), .json: self = .json
        case .latest(let named) where named.value == field.name.value: self = .time
        case .latest, nil: self = .plain
        }
    }
}

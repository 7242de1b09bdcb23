/// The columns of `undo-columns`.
enum UndoColumns: Sendable, Hashable {
    case all(Place)
    case named([Placed<String>])

    var names: [Placed<String>] {
        switch self {
        case .all: []
        case .named(let names): names
        }
    }
}

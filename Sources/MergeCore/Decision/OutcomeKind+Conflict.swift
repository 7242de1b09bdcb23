extension OutcomeKind {
    /// True if an outcome of this kind can be a conflict; a deletion is one only if the row was changed meanwhile.
    package var mayBeConflict: Bool {
        switch self {
        case .clientWon, .serverWon, .combined, .rejected, .deleted, .kept, .missing, .restored: true
        case .unchanged, .already, .applied, .inserted: false
        }
    }
}

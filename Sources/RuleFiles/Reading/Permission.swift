/// The one word that `non-transactional` and `client-keys` take.
enum Permission: String, CaseIterable {
    case allow
}

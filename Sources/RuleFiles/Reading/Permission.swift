/// The only value of `non-transactional` and `client-keys`.
enum Permission: String, CaseIterable {
    case allow
}

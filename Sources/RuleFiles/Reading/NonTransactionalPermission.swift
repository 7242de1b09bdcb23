/// The one word that `non-transactional` takes.
enum NonTransactionalPermission: String, CaseIterable {
    case allow
}

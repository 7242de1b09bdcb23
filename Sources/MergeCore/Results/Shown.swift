/// One side of a conflict, as the reply shows it.
package enum Shown: Sendable, Hashable {
    case null
    /// The values of the outcome's group.
    case group([Value])
    /// Some fields of the outcome's section.
    case fields([Int], [Value])
    /// A whole row of the outcome's section.
    case row([Value])
    /// A base of which the client sent only the digest.
    case digest([UInt8])
}

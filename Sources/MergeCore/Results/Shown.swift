/// One side of a conflict, in the form of the reply.
package enum Shown: Sendable, Hashable {
    case null
    /// The values of the outcome's group.
    case group([Value])
    /// Some fields of the outcome's section.
    case fields([Int], [Value])
    /// A whole row of the outcome's section.
    case row([Value])
    /// The digest that the client sent instead of a base.
    case digest([UInt8])
}

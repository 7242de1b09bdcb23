/// The rights of the operators' console.
package enum ConsoleMode: String, Sendable, CaseIterable {
    /// The gateway serves no console.
    case off
    /// The console writes nothing.
    case readOnly = "read-only"
    /// The console also undoes, sends again, and switches maintenance.
    case full
}

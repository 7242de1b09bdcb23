/// Does work to its end although the caller's task is cancelled, for example because the program ends.
package func withoutCancellation(_ work: @escaping @Sendable () async -> Void) async {
    await Task(operation: work).value
}

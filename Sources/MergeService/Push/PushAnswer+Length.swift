import RecordStore

extension PushAnswer {
    /// - Throws: `StoreError` of the kind `tooLarge` where the answer is longer than one may be, before anything is
    ///   committed: many edits may name one large record, each of which is answered whole.
    func checkLength(_ limits: MergeLimits) throws(StoreError) {
        guard body.count > limits.answerBytes else { return }
        throw StoreError(
            .tooLarge, "The answer would have more than \(limits.answerBytes) bytes; send fewer edits in one push.")
    }
}

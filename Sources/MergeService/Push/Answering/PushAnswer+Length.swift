import RecordStore

extension PushAnswer {
    /// Checks the length before the COMMIT: many edits may name one large record, which the answer then repeats.
    ///
    /// - Throws: `StoreError` of the kind `tooLarge`.
    func checkLength(_ limits: MergeLimits) throws(StoreError) {
        guard body.count > limits.answerBytes else { return }
        throw StoreError(
            .tooLarge, "The answer would have more than \(limits.answerBytes) bytes; send fewer edits in one push.")
    }
}

import MergeCore
package import MergeService
import MergeWire
package import RecordStore

extension JournalCodec {
    /// The forms of Protocol.md.
    ///
    /// - Parameter secret: the journal's own key for the digests of private values.
    package static func wire(secret: [UInt8]) -> JournalCodec {
        let encoder = EntryEncoder(secret: secret)
        return JournalCodec(
            entry: encoder.encode, key: KeyText.encode, traces: EntryReader.traces, effects: EntryReader.effects)
    }
}

extension AnswerForm {
    /// The answer as its address gives it.
    @Sendable static func encode(_ result: PushResult, _ form: AnswerForm) -> [UInt8] {
        switch form {
        case .push: ResultEncoder.push(result)
        case .merge: ResultEncoder.merge(result)
        }
    }
}

extension MergeService {
    /// Makes the service that answers in the forms of the wire.
    package static func wire(_ engine: any RecordEngine, limits: MergeLimits = MergeLimits()) -> MergeService {
        MergeService(engine: engine, limits: limits, digest: CanonicalJSON.digest, form: AnswerForm.encode)
    }
}

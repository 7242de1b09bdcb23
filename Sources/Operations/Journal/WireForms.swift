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
        let privates = PrivateValues(secret: secret)
        return JournalCodec(
            entry: encoder.encode, bareEntry: EntryEncoder.bare, key: KeyText.encode,
            traces: { EntryReader.traces(PackedBytes.unpack($0), of: $1, rows: $2, columns: $3) },
            effects: { EntryReader.effects(PackedBytes.unpack($0), $1) },
            names: { OutcomeReader.names($1.section, group: $1.group, in: PackedBytes.unpack($0)) },
            hasConflict: { OutcomeReader.hasConflict(in: PackedBytes.unpack($0)) },
            writes: WriteReader(digest: encoder.digest) {
                EntryReader.writes(in: PackedBytes.unpack($0), of: $1, rows: $2)
            },
            answer: privates.answer, refused: { privates.refusedBody($0, address: $1, under: $2) },
            revealed: { privates.revealed($0, request: $1, address: $2, records: $3, under: $4) })
    }
}

extension AnswerForm {
    /// Encodes the answer in the form of its address.
    ///
    /// - Parameter limit: the number of bytes after which encoding stops.
    /// - Parameter goesOn: false after the client has stopped waiting.
    static func encode(_ result: PushResult, as form: AnswerForm, limit: Int, goesOn: () -> Bool) -> [UInt8] {
        switch form {
        case .push: ResultEncoder.push(result, limit: limit, goesOn: goesOn)
        case .merge: ResultEncoder.merge(result)
        }
    }
}

extension MergeService {
    /// Makes a service that answers in the forms of Protocol.md.
    package static func wire(
        _ engine: any RecordEngine, limits: MergeLimits = MergeLimits(),
        unreadable: UnreadableRecords = UnreadableRecords()
    ) -> MergeService {
        MergeService(
            engine: engine, limits: limits, digest: CanonicalJSON.digest,
            form: { AnswerForm.encode($0, as: $1, limit: limits.answerBytes, goesOn: $2) },
            unreadable: unreadable, clock: { DateTime.now })
    }
}

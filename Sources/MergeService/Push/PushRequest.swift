package import MergeCore
package import RecordStore

/// The purpose of a push, and with it what it leaves behind.
package enum PushPurpose: Sendable {
    /// It is merged, under a key or without one.
    case apply(PushKey?)
    /// It does everything that a push does, and then takes the transaction back; it has no key.
    case preview
    /// It is done to entries of the journal, once each: an undo or a resend.
    case once(PushKey, [SingleEffect])
}

/// A request as it came, to be kept whole should its push be refused.
package struct SentRequest: Sendable {
    /// The path of the URL.
    package let address: String
    /// The bytes of the body, unpacked.
    package let body: [UInt8]

    /// Keeps the path and the body of a request.
    package init(address: String, body: [UInt8]) {
        self.address = address
        self.body = body
    }
}

/// A push with everything around it that decides what it leaves behind.
package final class PushRequest: Sendable {
    /// The edits.
    package let push: Push
    /// The shape of the answer.
    package let form: AnswerForm
    /// The one who sent it, for the journal.
    package let sender: Sender
    /// The purpose of the push.
    package let purpose: PushPurpose
    /// The request as it came.
    package let sent: SentRequest
    /// The one who waits for the answer.
    package let caller: Caller
    /// Conflicts tell who wrote what they met.
    package let tellsAuthors: Bool
    /// The rights of the sender; nil where no rules of access hold, or for an operator at the console.
    package let access: ClientAccess?

    /// Puts a push together with what is known of its request.
    package init(
        push: Push, form: AnswerForm, sender: Sender, purpose: PushPurpose, sent: SentRequest,
        caller: Caller = Caller(), tellsAuthors: Bool = false, access: ClientAccess? = nil
    ) {
        self.access = access
        self.tellsAuthors = tellsAuthors
        self.push = push
        self.form = form
        self.sender = sender
        self.purpose = purpose
        self.sent = sent
        self.caller = caller
    }

    /// The key under which the answer is kept; nil where there is none.
    package var key: PushKey? {
        switch purpose {
        case .apply(let key): key
        case .preview: nil
        case .once(let key, _): key
        }
    }

    /// The transaction is taken back in the end.
    package var isPreview: Bool {
        if case .preview = purpose { true } else { false }
    }

    /// Effects of the push on entries of the journal, each of which takes effect once.
    package var effects: [SingleEffect] {
        if case .once(_, let effects) = purpose { effects } else { [] }
    }

    /// The effects that a result of the push had: outcomes of an entry that it could not take back can be taken back later.
    func effects(of result: PushResult) -> [SingleEffect] {
        effects.filter { effect in
            guard case .undo(_, let outcome) = effect else { return true }
            return zip(push.edits, result.results).contains { edit, result in
                edit.reversals.contains { $0.outcome == outcome && $0.isDone(by: result.outcomes) }
            }
        }
    }

    /// A refused push that is sent again; it is kept already.
    var isResend: Bool {
        effects.contains { effect in
            if case .resend = effect { true } else { false }
        }
    }

    /// Returns true where the answer is kept under the push's key; after any other the push runs again.
    ///
    /// An undo and a resend without effect can be tried again.
    func keeps(_ result: PushResult) -> Bool { effects.isEmpty ? result.isKept : result.hasEffect }
}

/// The key of a push and what it stands for.
package struct PushKey: Sendable, Hashable {
    /// The key as the client sent it.
    package let text: String
    /// SHA-256 of the sender and the key, since every token has keys of its own.
    package let name: [UInt8]
    /// SHA-256 of the address and the body's meaning.
    package let request: [UInt8]

    /// Bundles a key with its digests.
    package init(text: String, name: [UInt8], request: [UInt8]) {
        self.text = text
        self.name = name
        self.request = request
    }
}

/// Writes the answer to a push, as long as `goesOn`, which is asked before each edit; else what was written is no answer.
package typealias AnswerWriting = @Sendable (PushResult, AnswerForm, _ goesOn: () -> Bool) -> [UInt8]

/// The answer to a push.
package final class PushAnswer: Sendable {
    /// The status of the push.
    package let status: PushStatus
    /// The bytes of the answer, as JSON.
    package let body: [UInt8]
    /// nil where an answer that was kept is given again.
    package let result: PushResult?

    /// The kind of its failure.
    package let failure: FailureKind
    /// The digest of what the client could see when the answer was kept; nil where no rules of access held.
    package let access: [UInt8]?

    /// The same push is answered so from now on.
    let isKept: Bool

    /// Something was written; an answer that was kept and is given again wrote nothing now.
    package var takesEffect: Bool { result?.hasEffect ?? false }

    /// True for an answer that was kept and is given again.
    package var isReplay: Bool { result == nil }

    init(
        status: PushStatus, body: [UInt8], result: PushResult?, isKept: Bool, failure: FailureKind,
        access: [UInt8]? = nil
    ) {
        self.failure = failure
        self.access = access
        self.status = status
        self.body = body
        self.result = result
        self.isKept = isKept
    }

    /// Makes the answer of a push's result.
    ///
    /// - Parameter told: the result as the client may see it.
    convenience init(
        to request: PushRequest, result: PushResult, told: PushResult, form: (PushResult, AnswerForm) -> [UInt8]
    ) {
        self.init(
            status: result.status, body: form(told, request.form), result: result, isKept: request.keeps(result),
            failure: result.failureKind)
    }
}

extension PushResult {
    /// Something was written.
    var hasEffect: Bool {
        results.contains { $0.status == .merged && $0.outcomes.contains(where: \.kind.hasEffect) }
    }

    /// Answers that are kept under a key; after any other the push runs again.
    var isKept: Bool { status != .failed || problem?.retry == .never }
}

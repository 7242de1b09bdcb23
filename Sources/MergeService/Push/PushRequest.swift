package import MergeCore
package import RecordStore

/// The purpose of a push, which decides its lasting effects.
package enum PushPurpose: Sendable {
    /// Merges the push, with or without a key.
    case apply(PushKey?)
    /// Runs the push and then rolls the transaction back; a preview has no key.
    case preview
    /// Applies an undo or a resend to entries of the journal, each once.
    case once(PushKey, [SingleEffect])
}

/// An HTTP request, stored completely if its push is refused.
package struct SentRequest: Sendable {
    /// The path of the URL.
    package let address: String
    /// The body after decompression.
    package let body: [UInt8]
    /// The id in the log and in the answer; nil if no HTTP request sent the push.
    package let id: String?

    /// Creates a request from its path, body and id.
    package init(address: String, body: [UInt8], id: String? = nil) {
        self.address = address
        self.body = body
        self.id = id
    }
}

/// A push with the properties of its request that decide its lasting effects.
package final class PushRequest: Sendable {
    /// The edits of the push.
    package let push: Push
    /// The shape of the answer.
    package let form: AnswerForm
    /// The sender, for the journal.
    package let sender: Sender
    /// The purpose of the push.
    package let purpose: PushPurpose
    /// The HTTP request.
    package let sent: SentRequest
    /// The caller that waits for the answer.
    package let caller: Caller
    /// True if conflicts name the author of the current value.
    package let tellsAuthors: Bool
    /// The rights of the sender; nil at the console and without access rules.
    package let access: ClientAccess?
    /// The sender as stamps name it.
    let author: Viewer

    /// Creates a push from the properties of its request.
    ///
    /// - Parameter claims: the claims of the sender's token, for stamps.
    package init(
        push: Push, form: AnswerForm, sender: Sender, purpose: PushPurpose, sent: SentRequest,
        caller: Caller = Caller(), tellsAuthors: Bool = false, access: ClientAccess? = nil,
        claims: AccessClaims = AccessClaims()
    ) {
        author = Viewer(who: sender.who, roles: [], claims: claims)
        self.access = access
        self.tellsAuthors = tellsAuthors
        self.push = push
        self.form = form
        self.sender = sender
        self.purpose = purpose
        self.sent = sent
        self.caller = caller
    }

    /// The key of the stored answer; nil for a preview and a push without a key.
    package var key: PushKey? {
        switch purpose {
        case .apply(let key): key
        case .preview: nil
        case .once(let key, _): key
        }
    }

    /// True if the transaction is rolled back at the end.
    package var isPreview: Bool {
        if case .preview = purpose { true } else { false }
    }

    /// Effects on entries of the journal, each of which happens once.
    package var effects: [SingleEffect] {
        if case .once(_, let effects) = purpose { effects } else { [] }
    }

    /// Returns the effects that a result of this push had.
    ///
    /// An outcome that this undo did not reverse can be undone later.
    func effects(of result: PushResult) -> [SingleEffect] {
        effects.filter { effect in
            guard case .undo(_, let outcome) = effect else { return true }
            return zip(push.edits, result.results).contains { edit, result in
                edit.reversals.contains { $0.outcome == outcome && $0.isDone(by: result.outcomes) }
            }
        }
    }

    /// True for a refused push that is sent again; its request is already stored.
    var isResend: Bool {
        effects.contains { effect in
            if case .resend = effect { true } else { false }
        }
    }

    /// True for an undo.
    var isUndo: Bool { !effects.isEmpty && !isResend }

    /// Returns true if the answer is stored under the push's key; otherwise a repeated push runs again.
    func keeps(_ result: PushResult) -> Bool { effects.isEmpty ? result.isKept : result.hasEffect }
}

/// The key of a push, with digests of its sender and request.
package struct PushKey: Sendable, Hashable {
    /// The key as the client sent it.
    package let text: String
    /// SHA-256 of the sender and the key, because each sender has its own keys.
    package let name: [UInt8]
    /// SHA-256 of the address and the parsed body.
    package let request: [UInt8]

    /// Creates a key with its digests.
    package init(text: String, name: [UInt8], request: [UInt8]) {
        self.text = text
        self.name = name
        self.request = request
    }
}

/// Encodes the answer to a push.
///
/// If `goesOn`, called before each edit, returns false, the bytes are incomplete and must be discarded.
package typealias AnswerWriting = @Sendable (PushResult, AnswerForm, _ goesOn: () -> Bool) -> [UInt8]

/// The answer to a push.
package final class PushAnswer: Sendable {
    /// The status of the push.
    package let status: PushStatus
    /// The answer's bytes, as JSON.
    package let body: [UInt8]
    /// The result of the push; nil for a stored answer.
    package let result: PushResult?

    /// The kind of the push's failure.
    package let failure: FailureKind
    /// The digest of the client's access when the answer was stored; nil without access rules.
    package let access: [UInt8]?

    let isKept: Bool

    /// True if this request wrote something; a stored answer has no new effect.
    package var takesEffect: Bool { result?.hasEffect ?? false }

    /// True for a stored answer.
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

    /// Creates the answer for a push's result.
    ///
    /// - Parameter told: the part of the result that the client may read.
    convenience init(
        to request: PushRequest, result: PushResult, told: PushResult, form: (PushResult, AnswerForm) -> [UInt8]
    ) {
        self.init(
            status: result.status, body: form(told, request.form), result: result, isKept: request.keeps(result),
            failure: result.failureKind)
    }
}

extension PushResult {
    var hasEffect: Bool {
        results.contains { $0.status == .merged && $0.outcomes.contains(where: \.kind.hasEffect) }
    }

    /// True if the answer is stored under a key.
    var isKept: Bool { status != .failed || problem?.retry == .never }
}

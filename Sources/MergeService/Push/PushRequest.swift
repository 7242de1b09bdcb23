package import MergeCore
package import RecordStore

/// A push with everything around it that decides what it leaves behind.
package final class PushRequest: Sendable {
    package let push: Push
    package let form: AnswerForm
    package let sender: Sender
    /// nil for a push without a key, and for a preview, which ignores it.
    package let key: PushKey?
    /// The path of the URL and the body as they came, to be kept should the push be refused.
    package let address: String
    package let body: [UInt8]
    /// Does everything that a push does, and then takes the transaction back.
    package let isPreview: Bool
    /// Effects of the push on entries of the journal, each of which takes effect once.
    package let effects: [SingleEffect]
    /// The one who waits for the answer.
    package let caller: Caller

    package init(
        push: Push, form: AnswerForm, sender: Sender, key: PushKey?, address: String, body: [UInt8], isPreview: Bool,
        effects: [SingleEffect] = [], caller: Caller = Caller()
    ) {
        self.push = push
        self.form = form
        self.sender = sender
        self.key = key
        self.address = address
        self.body = body
        self.isPreview = isPreview
        self.effects = effects
        self.caller = caller
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
    package let text: String
    /// SHA-256 of the sender and the key, since every token has keys of its own.
    package let name: [UInt8]
    /// SHA-256 of the address and the body's meaning.
    package let request: [UInt8]

    package init(text: String, name: [UInt8], request: [UInt8]) {
        self.text = text
        self.name = name
        self.request = request
    }
}

/// The answer to a push.
package struct PushAnswer: Sendable {
    /// The HTTP status.
    package let code: Int
    package let body: [UInt8]
    /// nil where an answer that was kept is given again.
    package let result: PushResult?

    /// The same push is answered so from now on.
    let isKept: Bool

    /// Something was written.
    var takesEffect: Bool { result?.hasEffect ?? false }

    package var isReplay: Bool { result == nil }

    init(code: Int, body: [UInt8], result: PushResult?, isKept: Bool) {
        self.code = code
        self.body = body
        self.result = result
        self.isKept = isKept
    }

    /// Makes the answer of a push's result.
    init(_ request: PushRequest, _ result: PushResult, _ form: (PushResult, AnswerForm) -> [UInt8]) {
        self.init(
            code: result.code, body: form(result, request.form), result: result, isKept: request.keeps(result))
    }
}

extension PushResult {
    /// The HTTP status of Protocol.md, section 5.
    package var code: Int {
        switch status {
        case .merged: 200
        case .partial: 207
        case .rejected: 409
        case .failed: 422
        }
    }

    /// Something was written.
    var hasEffect: Bool {
        results.contains { $0.status == .merged && $0.outcomes.contains(where: \.kind.hasEffect) }
    }

    /// Answers that are kept under a key; after any other the push runs again.
    var isKept: Bool { status != .failed || problem?.retry == false }
}

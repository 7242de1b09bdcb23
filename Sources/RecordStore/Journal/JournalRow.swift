import MergeCore

/// The sender of a push.
package struct Sender: Sendable, Hashable {
    /// The token's name; empty where the gateway asks for none.
    package let who: String
    /// The name that the client gives its device; at most 255 characters.
    package let device: String?

    package init(who: String, device: String?) {
        self.who = who
        self.device = device
    }
}

/// The answer that is kept under a push's key.
package struct KeptAnswer: Sendable, Hashable {
    /// SHA-256 of the address and the body's meaning; nil where the answer is kept for a replay and not for a key.
    package let request: [UInt8]?
    /// The HTTP status.
    package let code: Int
    package let body: [UInt8]

    package init(request: [UInt8]?, code: Int, body: [UInt8]) {
        self.request = request
        self.code = code
        self.body = body
    }
}

/// A push that was refused, whole, so that it can be sent again.
package struct RefusedBody: Sendable, Hashable {
    /// The path of the URL.
    package let address: String
    package let body: [UInt8]
    /// The code of the problem.
    package let reason: String

    package init(address: String, body: [UInt8], reason: String) {
        self.address = address
        self.body = body
        self.reason = reason
    }
}

/// The entry that the journal keeps of one edited record.
package struct JournalEntry: Sendable, Hashable {
    package let resource: String
    /// The record's key as URLs spell it.
    package let record: String
    package let status: String
    /// The outcomes that occur, each once, a comma before, between and behind.
    package let outcomes: String
    /// The version of the rules.
    package let rules: String
    /// The outcomes in full, as JSON.
    package let body: [UInt8]

    package init(resource: String, record: String, status: String, outcomes: String, rules: String, body: [UInt8]) {
        self.resource = resource
        self.record = record
        self.status = status
        self.outcomes = outcomes
        self.rules = rules
        self.body = body
    }
}

/// Everything that one push leaves in the journal.
package struct JournalDraft: Sendable, Hashable {
    package let sender: Sender
    package let key: String?
    /// SHA-256 of the sender and the key.
    package let name: [UInt8]?
    package let answer: KeptAnswer?
    package let refused: RefusedBody?
    package let entries: [JournalEntry]

    package init(
        sender: Sender, key: String?, name: [UInt8]?, answer: KeptAnswer?, refused: RefusedBody?,
        entries: [JournalEntry]
    ) {
        self.sender = sender
        self.key = key
        self.name = name
        self.answer = answer
        self.refused = refused
        self.entries = entries
    }

    package var isEmpty: Bool { name == nil && refused == nil && entries.isEmpty }
}

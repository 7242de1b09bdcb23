import MergeCore
import TestSupport

/// A kind of record with every merge function, and good pushes to it.
enum FuzzedRecords {
    static let rules = [
        "docs.yaml": """
        resource: docs
        sections:
          doc:
            table: docs
            on-missing: restore
            groups:
              n: {column: n, merge: add, on-conflict: reject}
              t: {column: t, merge: text}
              j: {column: j, type: json, merge: json}
              tags: {column: tags, type: set, separator: ",", merge: set}
              pair: {fields: {a: a, b: b}, on-conflict: server-wins}
              secret: {column: secret, private: true}
            checks: [{name: small, sql: "n < 1000", fields: [n]}]
          items:
            list: true
            table: items
            parent: {doc: id}
            on-missing: restore
            on-delete-conflict: keep
            groups: {what: what, friend: {column: friend, references: docs}}
        """
    ]

    static let sql = """
        CREATE TABLE docs (id INTEGER PRIMARY KEY AUTOINCREMENT, n INTEGER, t TEXT, j TEXT, tags TEXT, a INTEGER,
          b VARCHAR(10), secret TEXT);
        CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, doc INTEGER NOT NULL REFERENCES docs (id),
          what VARCHAR(20) NOT NULL, friend INTEGER);
        INSERT INTO docs VALUES (1, 5, 'one two three', '{"a":{"b":1},"c":[1,2]}', 'x,y', 1, 'b', 's'),
          (2, 7, 'four', '{}', '', 2, NULL, NULL);
        INSERT INTO items VALUES (1, 1, 'Beans', 2), (2, 1, 'Tea', NULL), (3, 2, 'Jam', 1);
        """

    static let names = [
        "docs", "doc", "items", "n", "t", "j", "tags", "pair", "a", "b", "secret", "what", "friend", "old", "new",
        "oldHash", "id", "changeset", "resource", "edits", "key", "atomic", "rules", "more", "e\u{301}",
    ]

    /// Valid pushes.
    ///
    /// Their bases are the first values of the database.
    static let pushes: [JSONTree] = [
        #"{"edits":[{"resource":"docs","id":1,"changeset":{"doc":{"n":{"old":5,"new":6},"t":{"old":"one two three","new":"one 2 three"}}}}]}"#,
        #"{"key":"k","edits":[{"resource":"docs","id":1,"changeset":{"doc":{"j":{"old":{"a":{"b":0},"c":[1]},"new":{"a":{"b":2},"d":null}},"tags":{"old":["x"],"new":["x","z"]}}}}]}"#,
        #"{"atomic":"edit","edits":[{"resource":"docs","id":2,"changeset":{"doc":{"old":{"n":7,"a":2,"b":null},"new":{"n":9,"a":3,"b":"c"}}}},{"resource":"docs","id":9,"changeset":{"doc":{"n":{"old":1,"new":2}}}}]}"#,
        #"{"edits":[{"resource":"docs","id":"tmp:a","changeset":{"doc":{"old":null,"new":{"n":1,"t":"new","secret":"pin"}},"items":[{"id":-3,"old":null,"new":{"what":"Rice","friend":"tmp:a"}}]}}]}"#,
        #"{"edits":[{"resource":"docs","id":1,"changeset":{"items":[{"id":1,"what":{"old":"Beans","new":"Corn"}},{"id":2,"old":{"what":"Tea"},"new":null},{"old":null,"new":{"what":"Oats"}}]}}]}"#,
        #"{"edits":[{"resource":"docs","id":2,"changeset":{"doc":{"old":{"n":7},"new":null}}}]}"#,
        #"{"edits":[{"resource":"docs","id":1,"changeset":{"doc":{"n":{"old":5,"new":2000},"pair":{"old":{"a":1,"b":"b"},"new":{"a":2,"b":"longer than ten"}}}}}]}"#,
    ].compactMap { JSONParser.parse($0) }
}

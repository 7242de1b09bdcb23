import FieldMergeTesting
import Foundation
import Synchronization
import Testing

@testable import FieldMergeClient

/// Other writers, other rules, and requests that fail.
extension Walk {
    /// Another client writes, and sometimes the feed begins anew.
    func others() {
        let id = dice.pick([1, 2, 3])
        guard var record = gateway.record("shoppers", id) else { return }
        let held = record["customer"]["points"].intValue ?? 0
        record["customer"]["points"] = .integer(Int128(held + 7))
        points[id, default: 0] += 7
        gateway.put(record, in: "shoppers", id: id)
        if dice.chance(0.15) { gateway.beginAnew() }
    }

    /// The rules gain a field, or lose it again.
    func changeRules() {
        rulesVersion += 1
        let hasCountry = rulesVersion % 2 == 0
        let rules = ShapeTests.rules("r\(rulesVersion)", adding: hasCountry ? "country" : nil)
        gateway.change(rules: rules) { resource, record in
            if hasCountry { return ShapeTests.withCountry(resource, record) }
            guard resource == "shoppers", var members = record.objectValue else { return record }
            members["customer"] = .object((record["customer"].objectValue ?? [:]).filter { $0.key != "country" })
            return .object(members)
        }
    }

    /// The next requests fail, each in another way.
    func trouble() {
        for _ in 0..<Int.random(in: 1...3, using: &dice) {
            switch dice.pick(["none", "lost", "cut", "busy", "html", "proxy", "large"]) {
            case "none": gateway.script.noNetwork()
            case "lost": gateway.script.loseAnswer()
            case "cut": gateway.script.breakAnswer(at: Int.random(in: 0...400, using: &dice))
            case "busy": gateway.script.error(503, "busy", headers: ["retry-after": "1"])
            case "html":
                gateway.script.reply(
                    Reply(headers: ["content-type": "text/html"], body: Data("<html>Please log in</html>".utf8)))
            case "proxy": gateway.script.reply(Reply(status: 502))
            default:
                gateway.script.add { request in
                    let body = String(decoding: request.body ?? Data(), as: UTF8.self)
                    let isSeveral = body.components(separatedBy: "\"key\"").count > 2
                    return isSeveral ? .problem(413, "too-large") : .problem(503, "busy")
                }
            }
        }
    }
}

import TestSupport

/// Makes the requests of many clients, each for three different records, so that their order does not matter.
enum ManyClientsMaker {
    static func requests(lanes: Int, rounds: Int) -> [CorpusRequest] {
        var dice = Dice(seed: 81)
        var requests: [CorpusRequest] = []
        for round in 0..<rounds {
            for lane in 1...lanes { requests.append(request(lane, round, &dice)) }
        }
        return requests
    }

    private static func request(_ lane: Int, _ round: Int, _ dice: inout Dice) -> CorpusRequest {
        let ids = (0..<3).map { lane + 24 * $0 }
        let count = dice.pick([1, 1, 1, 1, 2, 3])
        let edits = dice.shuffled(ids).prefix(count).map { edit($0, &dice) }
        let atomic = dice.chance(30) ? #""atomic":"edit","# : ""
        var request = CorpusRequest("crowd", .post, "/v1/push")
        request.lane = lane
        switch dice.number(1...20) {
        case 1: request = CorpusRequest("crowd record", .get, "/v1/records/pots/\(ids[0])")
        case 2:
            request.body = Array(#"{"edits":[{"resource":"pots","id":\#(ids[0]),"changeset":{"pot":{"x":1}}}]}"#.utf8)
        case 3:
            request.target = "/v1/push?preview=true"
            request.body = Array(#"{"edits":[\#(edits.joined(separator: ","))]}"#.utf8)
        default:
            let key = round % 3 == 0 ? #""key":"k\#(lane)-\#(round / 6)","# : ""
            request.body = Array(#"{\#(key)\#(atomic)"edits":[\#(edits.joined(separator: ","))]}"#.utf8)
        }
        request.lane = lane
        return request
    }

    private static func edit(_ id: Int, _ dice: inout Dice) -> String {
        let changes = [
            #""pot":{"a":{"old":"\#(dice.pick(["a", "x"]))","new":"\#(dice.pick(["y\(id)", "a", "Zoë"]))"}}"#,
            #""pot":{"b":{"old":"\#(dice.pick(["b", "x"]))","new":"\#(dice.pick(["y", "b"]))"},"a":{"old":"a","new":"q"}}"#,
            #""pot":{"n":{"old":\#(dice.pick(["5", "4"])),"new":\#(dice.pick(["9", "-50", "5", "900"]))}}"#,
            #""pot":{"code":{"old":"c\#(id)","new":"\#(dice.pick(["taken", "d\(id)"]))"}}"#,
            #""pot":{"code":{"old":"stale","new":"e\#(id)"}}"#,
            #""pot":{"rack":{"old":1,"new":\#(dice.pick(["1", "2", "7", "null"]))}}"#,
            #""lids":[{"id":\#(id),"c":{"old":"\#(dice.pick(["c", "x"]))","new":"l"},"m":{"old":0,"new":2}}]"#,
            #""lids":[{"id":\#(id),"c":{"old":"c","new":"k"}}],"pot":{"a":{"old":"a","new":"m"}}"#,
            #""lids":[{"id":\#(id + 1_000),"old":null,"new":{"c":"new"}}]"#,
            #""lids":[{"id":\#(id),"old":{"c":"c"},"new":null}]"#,
            #""lids":[{"id":\#(id + 1_000),"c":{"old":"new","new":"newer"}}]"#,
            #""pot":{"old":{"b":"b"},"new":null}"#,
            #""pot":{"old":null,"new":{"a":"again","code":"f\#(id)"}}"#,
        ]
        return #"{"resource":"pots","id":\#(id),"changeset":{\#(dice.pick(changes))}}"#
    }
}

import MergeCore
import MergeWire

/// Bodies of pushes to typed edits, and results to bodies.
enum Messages {
    static func costs(seconds: Double) throws -> [Cost] {
        var costs: [Cost] = []
        for rows in [1, 100] {
            let body = People.push(rows: rows)
            costs.append(
                try Cost.measure("decode: a push of \(rows), \(body.count) bytes", seconds: seconds) {
                    let push = try body.withUnsafeBytes {
                        try PushDecoder(catalog: People.catalog, limits: WireLimits()).push(
                            $0, headerKey: nil, sender: ""
                        ).push.get()
                    }
                    precondition(push.edits.count == rows)
                })
            guard let result = result(rows: rows) else { continue }
            let bytes = ResultEncoder.push(result).count
            costs.append(
                Cost.measure("encode: its result, \(bytes) bytes", seconds: seconds) {
                    keep(ResultEncoder.push(result))
                })
        }
        return costs
    }

    private static func result(rows: Int) -> PushResult? {
        guard let resource = People.resource else { return nil }
        let results = (1...rows).map { id in
            let key = RecordKey([.integer(Int128(id))])
            return EditResult(
                resource: resource, id: .key(key), status: .merged,
                record: Record(key: key, sections: [.one(People.row(id, version: 2))]), ids: [],
                outcomes: [Outcome(.applied, group: People.addressGroup)])
        }
        return PushResult(key: "bench-1-1", status: .merged, results: results)
    }
}

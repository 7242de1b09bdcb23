import MergeCore
import RecordStore
import Synchronization

/// The devices that have read changes from this gateway, by the time of the last request.
final class SyncedDevices: Sendable {
    private struct Device: Hashable {
        let who: ExactText
        let device: ExactText
    }

    private let devices = Mutex<[Device: ContinuousClock.Instant]>([:])
    private static let mostDevices = 20_000

    /// The ages that are counted, with their names in the metrics.
    static let ages: [(name: String, age: Duration)] = [
        ("5m", .seconds(300)), ("1h", .seconds(3_600)), ("1d", .seconds(86_400)), ("7d", .seconds(604_800)),
        ("30d", .seconds(2_592_000)),
    ]

    /// Counts a request for changes; further devices are ignored when the table is full.
    func note(_ sender: Sender, at now: ContinuousClock.Instant = .now) {
        let device = Device(who: ExactText(sender.who), device: ExactText(sender.device ?? ""))
        devices.withLock { devices in
            if devices.count >= Self.mostDevices, devices[device] == nil {
                devices = devices.filter { now - $1 < .seconds(2_592_000) }
                if devices.count >= Self.mostDevices { return }
            }
            devices[device] = now
        }
    }

    /// Returns the number of devices for each age, each device once, and of older ones.
    func counts(at now: ContinuousClock.Instant = .now) -> [(name: String, count: Int)] {
        let devices = devices.withLock { $0 }
        var counts = [Int](repeating: 0, count: Self.ages.count + 1)
        for last in devices.values {
            counts[Self.ages.firstIndex { now - last < $0.age } ?? Self.ages.count] += 1
        }
        return Array(zip(Self.ages.map(\.name) + ["older"], counts))
    }
}

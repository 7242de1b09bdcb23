// swift-tools-version:6.2
import PackageDescription

/// The compiler as reviewer, for every target of ours.
var strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

// Where a change is checked (.ci/run) a warning is an error; elsewhere a newer compiler's new warning breaks no build.
if Context.environment["FIELDMERGE_STRICT"] != nil { strict.append(.treatAllWarnings(as: .error)) }

let package = Package(
    name: "fieldmerge",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .executable(name: "fieldmerge", targets: ["fieldmerge"]),
        .library(name: "FieldMergeClient", targets: ["FieldMergeClient"]),
        .library(name: "FieldMergeTesting", targets: ["FieldMergeTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.8.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    ],
    targets: [
        .systemLibrary(name: "CMariaDB", pkgConfig: "libmariadb", providers: [.apt(["libmariadb-dev"])]),
        .systemLibrary(name: "CJansson", pkgConfig: "jansson", providers: [.apt(["libjansson-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "MergeCore", swiftSettings: strict),
        .target(
            name: "FieldMergeClient",
            dependencies: ["MergeCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
        .target(
            name: "FieldMergeTesting",
            dependencies: ["FieldMergeClient", "MergeCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
        .target(name: "RecordStore", dependencies: ["MergeCore", "CZlib"], swiftSettings: strict),
        .target(
            name: "RuleFiles",
            dependencies: [
                "MergeCore", "RecordStore", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Yams", package: "Yams"),
            ],
            swiftSettings: strict),
        .target(
            name: "MergeWire",
            dependencies: ["MergeCore", "CJansson", .product(name: "Crypto", package: "swift-crypto")],
            swiftSettings: strict),
        .target(
            name: "MariaDBStore",
            dependencies: [
                "RecordStore", "MergeCore", "CMariaDB", "CZlib", .product(name: "Crypto", package: "swift-crypto"),
            ],
            swiftSettings: strict),
        .target(
            name: "SQLiteStore",
            dependencies: [
                "RecordStore", "MergeCore", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            swiftSettings: strict),
        .target(name: "MergeService", dependencies: ["MergeCore", "RecordStore"], swiftSettings: strict),
        .target(
            name: "ChangeFeed", dependencies: ["MergeCore", "RecordStore", "MergeService"], swiftSettings: strict),
        .target(
            name: "Operations",
            dependencies: [
                "ChangeFeed", "MergeCore", "RecordStore", "MergeWire", "MergeService", "RuleFiles",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: strict),
        .target(
            name: "ClientFiles", path: "Sources/clients/javascript",
            exclude: ["file.js", "lock.js", "package.json", "testing.js", "testing.d.ts"],
            sources: ["ClientFiles.swift"],
            resources: [
                .embedInCode("fieldmerge.js"),
                .embedInCode("fieldmerge-worker.js"),
                .embedInCode("count.js"),
                .embedInCode("deciding.js"),
                .embedInCode("decisions.js"),
                .embedInCode("download.js"),
                .embedInCode("drafts.js"),
                .embedInCode("editing.js"),
                .embedInCode("engine.js"),
                .embedInCode("errors.js"),
                .embedInCode("events.js"),
                .embedInCode("exchange.js"),
                .embedInCode("follow.js"),
                .embedInCode("following.js"),
                .embedInCode("form.js"),
                .embedInCode("history.js"),
                .embedInCode("indexeddb.js"),
                .embedInCode("indexes.js"),
                .embedInCode("inputs.js"),
                .embedInCode("json.js"),
                .embedInCode("keep.js"),
                .embedInCode("keys.js"),
                .embedInCode("large.js"),
                .embedInCode("layers.js"),
                .embedInCode("leader.js"),
                .embedInCode("lines.js"),
                .embedInCode("lists.js"),
                .embedInCode("live.js"),
                .embedInCode("local.js"),
                .embedInCode("memory.js"),
                .embedInCode("network.js"),
                .embedInCode("query.js"),
                .embedInCode("ranges.js"),
                .embedInCode("refused.js"),
                .embedInCode("regroup.js"),
                .embedInCode("remote.js"),
                .embedInCode("renaming.js"),
                .embedInCode("rules.js"),
                .embedInCode("scheduler.js"),
                .embedInCode("sending.js"),
                .embedInCode("signout.js"),
                .embedInCode("snapshot.js"),
                .embedInCode("state.js"),
                .embedInCode("store.js"),
                .embedInCode("support.js"),
                .embedInCode("told.js"),
                .embedInCode("upgrade.js"),
                .embedInCode("values.js"),
                .embedInCode("waits.js"),
                .embedInCode("watching.js"),
                .embedInCode("work.js"),
                .embedInCode("fieldmerge.d.ts"),
            ],
            swiftSettings: strict),
        .target(
            name: "ConsoleFiles", path: "Sources/console",
            sources: ["ConsoleFiles.swift"],
            resources: [
                .embedInCode("api.js"),
                .embedInCode("chart.js"),
                .embedInCode("conflicts.js"),
                .embedInCode("console.css"),
                .embedInCode("devices.js"),
                .embedInCode("diff.js"),
                .embedInCode("dom.js"),
                .embedInCode("explain.js"),
                .embedInCode("health.js"),
                .embedInCode("index.html"),
                .embedInCode("json.js"),
                .embedInCode("main.js"),
                .embedInCode("model.js"),
                .embedInCode("overview.js"),
                .embedInCode("record.js"),
                .embedInCode("refused.js"),
                .embedInCode("rules.js"),
                .embedInCode("values.js"),
            ],
            swiftSettings: strict),
        .target(
            name: "Gateway",
            dependencies: [
                "ChangeFeed", "ClientFiles", "ConsoleFiles", "MergeCore", "RecordStore", "MergeWire", "MergeService",
                "Operations", "RuleFiles",
                "CZlib",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: [.embedInCode("Description/openapi.json")],
            swiftSettings: strict),
        .executableTarget(
            name: "fieldmerge",
            dependencies: [
                "ChangeFeed", "MergeCore", "MergeService", "MergeWire", "RuleFiles", "RecordStore", "MariaDBStore",
                "SQLiteStore", "Operations", "Gateway",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            exclude: ["Guides"],
            swiftSettings: strict),
        .target(
            name: "TestSupport",
            dependencies: [
                "MergeCore", "RecordStore", "MariaDBStore", "SQLiteStore",
                .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Support/TestSupport", swiftSettings: strict),
        .testTarget(
            name: "MergeCoreTests", dependencies: ["MergeCore", "TestSupport"], path: "Tests/Unit/MergeCoreTests",
            swiftSettings: strict),
        .testTarget(
            name: "ClientTests",
            dependencies: [
                "FieldMergeClient", "FieldMergeTesting", "MergeCore", .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ],
            path: "Tests/Clients/Swift", exclude: ["Stores", "run"], swiftSettings: strict),
        .testTarget(
            name: "RuleFilesTests",
            dependencies: ["MariaDBStore", "MergeCore", "RecordStore", "RuleFiles", "TestSupport"],
            path: "Tests/Unit/RuleFilesTests", swiftSettings: strict),
        .testTarget(
            name: "MergeWireTests",
            dependencies: ["MergeCore", "MergeWire", "TestSupport", .product(name: "Crypto", package: "swift-crypto")],
            path: "Tests/Unit/MergeWireTests", swiftSettings: strict),
        .testTarget(
            name: "MergeServiceTests",
            dependencies: ["MergeCore", "MergeService", "RecordStore", "SQLiteStore", "TestSupport"],
            path: "Tests/Unit/MergeServiceTests", swiftSettings: strict),
        .testTarget(
            name: "StoreTests",
            dependencies: ["CMariaDB", "MergeCore", "RecordStore", "MariaDBStore", "SQLiteStore", "TestSupport"],
            path: "Tests/Gateway/StoreTests", swiftSettings: strict),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "ChangeFeed", "fieldmerge", "Gateway", "MergeCore", "MergeService", "MergeWire", "Operations",
                "RecordStore",
                "RuleFiles", "SQLiteStore", "TestSupport", .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Gateway/GatewayTests", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests",
            dependencies: ["fieldmerge", "MergeCore", "MergeWire", "RuleFiles", "TestSupport"], path: "Tests/Unit/Fuzz",
            exclude: ["README.md"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// Only Tests/run benchmark needs these, so only it asks for them: no other build waits for them.
if Context.environment["FIELDMERGE_BENCHMARK"] != nil {
    package.targets += [
        .target(name: "AllocationCounter", path: "Tests/Load/Benchmarks/AllocationCounter"),
        .executableTarget(
            name: "fieldmerge-core-bench",
            dependencies: [
                "AllocationCounter", "Gateway", "MergeCore", "MergeWire", "Operations",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/Load/Benchmarks/Core", swiftSettings: strict),
    ]
}

// Tests/run sanitize asks for the tests of what needs neither a server nor the command line, and builds nothing else.
if Context.environment["FIELDMERGE_SANITIZE"] != nil {
    let left: Set = ["MergeCoreTests", "MergeWireTests", "MergeServiceTests"]
    let unneeded: Set = [
        "RuleFiles", "ChangeFeed", "ClientFiles", "ConsoleFiles", "Operations", "Gateway", "fieldmerge",
        "FieldMergeClient", "FieldMergeTesting",
    ]
    package.products = []
    package.targets.removeAll { target in
        target.type == .test ? !left.contains(target.name) : unneeded.contains(target.name)
    }
}

// Tests/Clients/Swift/run asks for the Swift client and its tests, and builds nothing else.
if Context.environment["FIELDMERGE_CLIENT"] != nil {
    let kept: Set = ["MergeCore", "FieldMergeClient", "FieldMergeTesting", "ClientTests"]
    package.targets.removeAll { !kept.contains($0.name) }
    package.products.removeAll { !kept.contains($0.name) }
}

// Tests/run sanitize has every test wait for a `Mutex` in a way that the thread sanitizer sees.
if Context.environment["FIELDMERGE_SANITIZED_MUTEX"] != nil {
    package.targets.append(.target(name: "SanitizedMutex", path: "Tests/Unit/Sanitizers", exclude: ["run"]))
    for target in package.targets where target.type == .test { target.dependencies.append("SanitizedMutex") }
}

// Tests/run fuzz-sanitized asks for what libFuzzer calls, and builds nothing else.
if Context.environment["FIELDMERGE_LIBFUZZER"] != nil {
    package.targets.removeAll {
        !["CJansson", "CMariaDB", "CZlib", "MergeCore", "MergeWire", "RecordStore"].contains($0.name)
    }
    // The part of MariaDBStore that decodes bytes.
    let others = [
        "BinlogConnection", "BinlogHandle", "CascadeLinkReader", "LoggedForms", "MariaDBRowLog", "MariaDBRowLogReader",
    ]
    package.targets.append(
        .target(
            name: "BinlogDecoding", dependencies: ["CMariaDB", "CZlib", "MergeCore", "RecordStore"],
            path: "Sources/MariaDBStore", exclude: others.map { "Binlog/\($0).swift" },
            sources: ["Binlog", "Connection/Column+Wire.swift"], swiftSettings: strict))
    package.targets.append(
        .target(
            name: "LibFuzzer", dependencies: ["BinlogDecoding", "MergeCore", "MergeWire", "RecordStore"],
            path: "Tests/Unit/LibFuzzer", exclude: ["run"], swiftSettings: strict)
    )
    package.products = [.library(name: "fieldmerge-libfuzzer", type: .static, targets: ["LibFuzzer"])]
}

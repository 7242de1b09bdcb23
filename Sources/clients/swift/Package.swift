// swift-tools-version:6.2
import PackageDescription

/// The client library alone, which depends on GRDB and nothing of the gateway.
///
/// `Sources` has links to the folders of this repository. A release contains the package with the files themselves.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

let package = Package(
    name: "fieldmerge-client",
    platforms: [.macOS(.v15), .iOS(.v18)],
    products: [
        .library(name: "FieldMergeClient", targets: ["FieldMergeClient"]),
        .library(name: "FieldMergeTesting", targets: ["FieldMergeTesting"]),
    ],
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [
        .target(name: "MergeCore", swiftSettings: strict),
        .target(
            name: "FieldMergeClient",
            dependencies: ["MergeCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
        .target(
            name: "FieldMergeTesting",
            dependencies: ["FieldMergeClient", "MergeCore", .product(name: "GRDB", package: "GRDB.swift")],
            swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)

// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "shop",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "fieldmerge-client", path: "../fieldmerge-client-0.3.0")],
    targets: [
        .executableTarget(
            name: "shop", dependencies: [.product(name: "FieldMergeClient", package: "fieldmerge-client")])
    ]
)

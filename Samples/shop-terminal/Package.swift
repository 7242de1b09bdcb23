// swift-tools-version:6.2
import PackageDescription

let package = Package(
    name: "shop-terminal",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "fieldmerge", path: "../..")],
    targets: [
        .executableTarget(
            name: "shop-terminal", dependencies: [.product(name: "FieldMergeClient", package: "fieldmerge")])
    ],
    swiftLanguageModes: [.v6]
)

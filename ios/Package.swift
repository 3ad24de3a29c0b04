// swift-tools-version: 5.9
// The package that an application adds. `cargo xtask ios` makes what it names: `build/` (the XCFramework) and `Sources/`
// (the Swift of bindings/swift, since a package may not reach outside its folder).
import PackageDescription

let package = Package(
    name: "ConnectorCore",
    platforms: [.iOS("15.1")],
    products: [
        .library(name: "ConnectorCore", targets: ["ConnectorCore"]),
    ],
    targets: [
        .target(
            name: "ConnectorCore",
            dependencies: ["ConnectorCoreFFI"],
            // What the verifier of certificates asks of the system.
            linkerSettings: [.linkedFramework("Security"), .linkedFramework("CoreFoundation")]
        ),
        .binaryTarget(name: "ConnectorCoreFFI", path: "build/ConnectorCoreFFI.xcframework"),
    ]
)

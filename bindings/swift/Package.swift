// swift-tools-version: 6.0
import PackageDescription

// For development and tests on a machine with the host's library: `bindings/test swift`. Applications for iOS take the
// package in ios/, which brings the library along.
let package = Package(
  name: "ConnectorCore",
  platforms: [.iOS("15.1"), .macOS(.v12)],
  products: [.library(name: "ConnectorCore", targets: ["ConnectorCore"])],
  targets: [
    .systemLibrary(name: "ConnectorCoreFFI"),
    .target(name: "ConnectorCore", dependencies: ["ConnectorCoreFFI"]),
    .testTarget(name: "ConnectorCoreTests", dependencies: ["ConnectorCore"]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version:6.0
import PackageDescription

let package = Package(
  name: "Parley",
  platforms: [.iOS(.v13), .macOS(.v10_15)],
  products: [.library(name: "Parley", targets: ["Parley"])],
  targets: [
    .target(name: "Parley", resources: [.process("PrivacyInfo.xcprivacy")]),
    // Runs clients/contract/scenario.json against a server. Not a product, so apps do not get it.
    .executableTarget(name: "ScenarioRunner", dependencies: ["Parley"]),
    .testTarget(name: "ParleyTests", dependencies: ["Parley"]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version:6.0
import PackageDescription

let package = Package(
  name: "Parley",
  platforms: [.iOS(.v13), .macOS(.v10_15)],
  products: [.library(name: "Parley", targets: ["Parley"])],
  targets: [
    .target(name: "Parley", resources: [.process("PrivacyInfo.xcprivacy")]),
    // Plays clients/contract/scenario.json against a server. No product: apps never see it.
    .executableTarget(name: "ScenarioRunner", dependencies: ["Parley"]),
    .testTarget(name: "ParleyTests", dependencies: ["Parley"]),
  ],
  swiftLanguageModes: [.v6]
)

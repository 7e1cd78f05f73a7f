import Foundation
import Parley

/// The environment of a run.
struct Setting: Sendable {
  let scenario: URL
  let baseURL: String
  let tenantId: String
  let publicKeyId: String
  let tokenURL: String
  let outbox: URL
  let retryBaseMs: Int

  init(_ environment: [String: String]) throws {
    func value(_ name: String) throws -> String {
      guard let value = environment[name] else { throw WrongStart(description: "\(name) is not set") }
      return value
    }
    scenario = URL(fileURLWithPath: try value("PARLEY_SCENARIO"))
    baseURL = try value("SERVICE_BASE_URL")
    tenantId = try value("SERVICE_TENANT_ID")
    publicKeyId = try value("SERVICE_PUBLIC_KEY_ID")
    tokenURL = try value("PARLEY_TOKEN_URL")
    outbox = URL(fileURLWithPath: try value("PARLEY_STATE")).appendingPathComponent("outbox")
    retryBaseMs = Int(environment["PARLEY_RETRY_BASE_MS"] ?? "") ?? RetryPolicy.request.baseMs
  }

  /// The part with that name; nil if it is not for apps.
  func readPart(_ name: String?) throws -> Part? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let parts = try decoder.decode(Scenario.self, from: Data(contentsOf: scenario)).parts
    guard let part = parts.first(where: { $0.name == name }) else { throw WrongStart(description: "no such part") }
    return part.needs == "app" ? part : nil
  }

  /// Client options with the test's delays.
  func options(onLost: @escaping @Sendable (LostAnswer) -> Void) -> ParleyClient.Options {
    var options = ParleyClient.Options()
    options.outboxFolder = outbox
    options.flushesAutomatically = false  // the scenario counts calls of the provider
    options.retry.baseMs = retryBaseMs
    options.outboxRetry.baseMs = retryBaseMs
    options.onLost = onLost
    return options
  }
}

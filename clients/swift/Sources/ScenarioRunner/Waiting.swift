import Foundation
import Parley

/// Deviation from the scenario.
struct Wrong: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }
}

func need<Value>(_ value: Value?) throws -> Value {
  guard let value else { throw Wrong("the step lacks a member") }
  return value
}

func expect<Value: Equatable>(_ actual: Value, _ expected: Value?) throws {
  if let expected, actual != expected { throw Wrong("\(actual) instead of \(expected)") }
}

/// Retries until success; throws the last error after 15 s.
func eventually(
  isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Void
) async throws {
  let end = Date().addingTimeInterval(15)
  while true {
    do {
      return try await work()
    } catch {
      if Date() > end { throw error }
      try await Task.sleep(nanoseconds: 50_000_000)
    }
  }
}

/// Runs work that must succeed, or fail as the step specifies.
func succeedOrFail(
  _ step: Step, isolation: isolated (any Actor)? = #isolation, _ work: () async throws -> Void
) async throws {
  do {
    try await work()
  } catch let error as ParleyError where step.failure != nil {
    try expect(error.kind.rawValue, step.failure)
    if let code = step.code { try expect(error.code, code) }
    return
  }
  if let failure = step.failure { throw Wrong("no \(failure)") }
}

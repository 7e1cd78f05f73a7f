import Parley

struct Scenario: Decodable {
  let parts: [Part]
}

struct Part: Decodable, Sendable {
  let name: String
  let needs: String
  let steps: [Step]

  // Server steps have different members with the same names and are not decoded.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Keys.self)
    name = try container.decode(String.self, forKey: .name)
    needs = try container.decode(String.self, forKey: .needs)
    steps = needs == "app" ? try container.decode([Step].self, forKey: .steps) : []
  }

  private enum Keys: CodingKey {
    case name, needs, steps
  }
}

/// An app step; its members depend on `do`.
struct Step: Decodable, Sendable {
  let `do`: String
  let user: String?
  let tokens: [String]?
  let titles: [String]?
  let providerCalls: Int?
  let failure: String?
  let code: String?
  let card: String?
  let `as`: String?
  let state: AnswerState?
  let values: [String: AnswerValue]?
  let comment: String?
  let left: Int?
  let lost: [String]?
  let answer: String?
  let revision: Int?
  let conversation: String?
  let subject: String?
  let message: String?
  let body: String?
  let bodies: [String]?
  let clientMessageId: String?
  let limit: Int?
  let subjects: [String]?
  let count: Int?
  let pauseMs: Int?
}

import Foundation

/// A value of the contract's files.
enum Value: Decodable, Equatable, Sendable {
  case null
  case flag(Bool)
  case number(Double)
  case text(String)
  case list([Value])
  case object([String: Value])

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Double.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if let list = try? container.decode([Value].self) {
      self = .list(list)
    } else {
      self = .object(try container.decode([String: Value].self))
    }
  }

  /// A member; nil if absent or if the value is not an object.
  subscript(name: String) -> Value? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  subscript(index: Int) -> Value {
    list[index]
  }

  var list: [Value] {
    if case .list(let items) = self { items } else { [] }
  }

  var object: [String: Value] {
    if case .object(let members) = self { members } else { [:] }
  }

  var text: String? {
    if case .text(let text) = self { text } else { nil }
  }

  var number: Double? {
    if case .number(let number) = self { number } else { nil }
  }

  var int: Int? {
    number.map { Int($0) }
  }

  /// The value as JSON.
  var json: String {
    switch self {
    case .null: "null"
    case .flag(let flag): String(flag)
    case .number(let number): number == number.rounded() ? String(Int(number)) : String(number)
    case .text(let text): String(decoding: (try? JSONEncoder().encode(text)) ?? Data(), as: UTF8.self)
    case .list(let items): "[" + items.map(\.json).joined(separator: ",") + "]"
    case .object(let members): "{" + members.map { "\(Value.text($0).json):\($1.json)" }.joined(separator: ",") + "}"
    }
  }

  var flag: Bool? {
    if case .flag(let flag) = self { flag } else { nil }
  }
}

/// A file of `clients/contract/`.
func contract(_ file: String) throws -> Value {
  try readJSON(contractData(file))
}

func contractData(_ file: String) throws -> Data {
  let here = URL(fileURLWithPath: #filePath)
  let clients = (0..<4).reduce(here) { folder, _ in folder.deletingLastPathComponent() }
  return try Data(contentsOf: clients.appendingPathComponent("contract/\(file)"))
}

func readJSON(_ data: Data) throws -> Value {
  try JSONDecoder().decode(Value.self, from: data)
}

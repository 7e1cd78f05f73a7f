import Foundation

/// Fields of the app's own that are stored with each answer of a view, such as the plan or the current screen.
public struct FeedbackContext: Sendable {
  /// Maximum number of fields. With `card_locale` and `trigger`, which the library adds, they are the 20 that servers accept.
  public static let maxFields = 18

  let fields: [String: String]

  /// No fields.
  public init() {
    fields = [:]
  }

  /// Checks the fields, as the server would reject the answers: at most 18, with names of 1 to 64 of the characters
  /// A-Z a-z 0-9 _ . - that the library does not set itself, and values of at most 256 characters. Throws `invalidArgument`.
  public init(_ fields: [String: String]) throws {
    if let fault = contextFault(in: fields, reserved: setByTheLibrary) { throw ParleyError(.invalidArgument, fault) }
    self.fields = fields
  }
}

/// Standard names of metadata, which do not count as the app's own.
private let standardNames: Set<String> = [
  "platform", "os_version", "app_version", "sdk", "device_model", "locale", "screen",
]
private let setByTheLibrary = standardNames.union(["card_locale", "trigger"])

/// Returns why the server would reject metadata; nil if it accepts it.
func contextFault(in metadata: [String: String], reserved: Set<String> = ["card_locale", "trigger"]) -> String? {
  if let name = metadata.keys.first(where: reserved.contains) { return "The library itself sets \(name)." }
  let own = metadata.keys.filter { !standardNames.contains($0) }
  if own.count > FeedbackContext.maxFields {
    return "An answer has at most \(FeedbackContext.maxFields) fields of your own, not \(own.count)."
  }
  let pattern = "^[A-Za-z0-9_.-]{1,64}$"
  if let name = own.first(where: { $0.range(of: pattern, options: .regularExpression) == nil }) {
    return "\"\(name)\" is not a valid field name: 1 to 64 of the characters A-Z a-z 0-9 _ . -"
  }
  let long = metadata.first { $0.value.utf16.count > 256 }
  return long.map { "The value of \($0.key) is longer than 256 characters." }
}

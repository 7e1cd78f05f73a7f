import Foundation

/// Failure of a call to Parley.
public struct ParleyError: Error, Sendable {
  /// Kind of failure: derived from the status, or the reason for a missing response.
  public enum Kind: String, Sendable, CaseIterable {
    case malformed
    case unauthenticated
    case forbidden
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case notAcceptable = "not-acceptable"
    case timedOut = "timed-out"
    case conflict
    case gone
    case preconditionFailed = "precondition-failed"
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case invalid
    case rateLimited = "rate-limited"
    case headersTooLarge = "headers-too-large"
    case `internal`
    case notImplemented = "not-implemented"
    case unavailable
    /// No connection, incomplete response or timeout.
    case noReply = "no-reply"
    /// A response that is not from Parley, such as a captive portal's page.
    case unreadable
    /// The token provider failed; `cause` is its error.
    case providerFailed = "provider-failed"
    /// The user changed while the call was in progress.
    case userChanged = "user-changed"
    /// The disk refused to store answers; `cause` is the system's error.
    case storageFailed = "storage-failed"
    case insecureURL = "insecure-url"
    case invalidArgument = "invalid-argument"
  }

  /// One validation error.
  public struct Fault: Codable, Equatable, Sendable {
    /// JSON pointer into the body; empty for a parameter.
    public let pointer: String
    /// Name of the query parameter or header, or nil.
    public let parameter: String?
    public let code: String
    public let detail: String

    public init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: CodingKeys.self)
      pointer = try members.decodeIfPresent(String.self, forKey: .pointer) ?? ""
      parameter = try members.decodeIfPresent(String.self, forKey: .parameter)
      code = try members.decode(String.self, forKey: .code)
      detail = try members.decode(String.self, forKey: .detail)
    }
  }

  public let kind: Kind
  /// HTTP status; 0 without a response.
  public internal(set) var status = 0
  /// Problem code of Parley, such as `validation-failed`.
  public internal(set) var code: String?
  public internal(set) var title: String?
  public internal(set) var detail: String?
  /// ID of the request in the server's log.
  public internal(set) var requestId: String?
  public internal(set) var errors: [Fault] = []
  /// Whether the same request may succeed later.
  public internal(set) var retryable = false
  /// `Retry-After` in milliseconds, or nil.
  public internal(set) var retryAfterMs: Int?
  /// Underlying error.
  public internal(set) var cause: (any Error)?

  init(_ kind: Kind, _ detail: String? = nil, cause: (any Error)? = nil) {
    self.kind = kind
    self.detail = detail
    self.cause = cause
  }
}

extension ParleyError: LocalizedError, CustomStringConvertible {
  /// The explanation with code, request id and invalid fields.
  public var errorDescription: String? { description }

  public var description: String {
    let known = [kind.rawValue, status == 0 ? nil : String(status), code, requestId].compactMap { $0 }
    let text = detail ?? title ?? (status == 0 ? "The call failed." : "The server responded with status \(status).")
    return ([text + " (" + known.joined(separator: ", ") + ")"] + errors.map(\.description)).joined(separator: "\n")
  }
}

extension ParleyError.Fault: CustomStringConvertible {
  public var description: String { "  \(parameter ?? pointer): \(detail) (\(code))" }
}

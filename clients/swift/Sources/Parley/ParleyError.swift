import Foundation

/// Every failure of a call to Parley.
public struct ParleyError: Error, Sendable {
  /// What kind of trouble it is: by the status of the reply, or why there is none.
  public enum Kind: String, Sendable, CaseIterable {
    case malformed
    case unauthenticated
    case forbidden
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case notAcceptable = "not-acceptable"
    case timedOut = "timed-out"
    case conflict
    case preconditionFailed = "precondition-failed"
    case tooLarge = "too-large"
    case unsupportedMediaType = "unsupported-media-type"
    case invalid
    case rateLimited = "rate-limited"
    case headersTooLarge = "headers-too-large"
    case `internal`
    case notImplemented = "not-implemented"
    case unavailable
    /// No connection, a reply that broke off, a time limit.
    case noReply = "no-reply"
    /// A reply that no Parley sends, such as the page of a hotel's network.
    case unreadable
    /// The token provider failed; `cause` is its own failure.
    case providerFailed = "provider-failed"
    /// Another user has logged in since the call began.
    case userChanged = "user-changed"
    case insecureURL = "insecure-url"
    case invalidArgument = "invalid-argument"
  }

  /// One fault among several.
  public struct Fault: Codable, Equatable, Sendable {
    /// A JSON pointer, or the name of a parameter.
    public let pointer: String
    public let code: String
    public let detail: String
  }

  public let kind: Kind
  /// The HTTP status; 0 without a reply.
  public internal(set) var status = 0
  /// Parley's own code, such as `validation-failed`.
  public internal(set) var code: String?
  public internal(set) var title: String?
  public internal(set) var detail: String?
  /// By which the server's log names the request.
  public internal(set) var requestId: String?
  public internal(set) var errors: [Fault] = []
  /// Whether the same request may succeed later.
  public internal(set) var retryable = false
  /// After how many milliseconds the server wants to be asked again; nil where it doesn't say.
  public internal(set) var retryAfterMs: Int?
  /// What lies behind it.
  public internal(set) var cause: (any Error)?

  init(_ kind: Kind, _ detail: String? = nil, cause: (any Error)? = nil) {
    self.kind = kind
    self.detail = detail
    self.cause = cause
  }
}

extension ParleyError: LocalizedError {
  public var errorDescription: String? {
    detail ?? title ?? (status == 0 ? kind.rawValue : "The server answered \(status) (\(kind.rawValue)).")
  }
}

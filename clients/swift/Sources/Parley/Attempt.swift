import Foundation

/// A finished attempt of a call, for logs and metrics. Contains neither the token nor the user's data.
public struct Attempt: Sendable {
  /// The `operationId` of the API, such as `listCards`.
  public let operation: String
  public let method: String
  /// From 1.
  public let number: Int
  /// HTTP status; 0 without a response.
  public let status: Int
  /// From the request for a token, if one was needed, to the complete response.
  public let durationMs: Int
  /// ID of the request in the server's log.
  public let requestId: String?
  /// Its text may quote the request.
  public let error: (any Error)?
  /// Delay before the next attempt; nil if there is none.
  public let retryInMs: Int?
}

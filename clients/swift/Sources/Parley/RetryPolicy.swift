import Foundation

/// Retry policy with exponential backoff.
public struct RetryPolicy: Sendable {
  /// Maximum number of retries; nil for no limit.
  public var retries: Int?
  public var baseMs: Int
  public var capMs: Int
  /// Maximum honored `Retry-After`.
  public var longestRetryAfterMs: Int

  public init(retries: Int?, baseMs: Int, capMs: Int, longestRetryAfterMs: Int) {
    self.retries = retries
    self.baseMs = baseMs
    self.capMs = capMs
    self.longestRetryAfterMs = longestRetryAfterMs
  }

  /// Policy of interactive calls: four attempts within seconds.
  public static let request = RetryPolicy(retries: 3, baseMs: 500, capMs: 8000, longestRetryAfterMs: 30_000)

  /// Policy of the outbox: no limit, at most five minutes apart.
  public static let outbox = RetryPolicy(retries: nil, baseMs: 1000, capMs: 300_000, longestRetryAfterMs: 3_600_000)

  /// One attempt; the caller retries.
  static let once = RetryPolicy(retries: 0, baseMs: 0, capMs: 0, longestRetryAfterMs: 0)

  /// Delay in milliseconds before a retry (counted from 1), with full jitter; nil to give up.
  func delay(before retry: Int, random: Double, retryAfterMs: Int?) -> Int? {
    if let retries, retry > retries { return nil }
    guard let retryAfterMs else {
      return Int(random * min(Double(capMs), Double(baseMs) * pow(2, Double(retry - 1))))
    }
    if retries != nil, retryAfterMs > longestRetryAfterMs { return nil }
    return min(retryAfterMs, longestRetryAfterMs) + Int(random * Double(baseMs))
  }
}

import Foundation

/// How often and how long after each other something is tried again.
public struct RetryPolicy: Sendable {
  /// How many times at most after the first; nil: without an end.
  public var retries: Int?
  public var baseMs: Int
  public var capMs: Int
  /// The longest `Retry-After` that is waited for.
  public var longestRetryAfterMs: Int

  public init(retries: Int?, baseMs: Int, capMs: Int, longestRetryAfterMs: Int) {
    self.retries = retries
    self.baseMs = baseMs
    self.capMs = capMs
    self.longestRetryAfterMs = longestRetryAfterMs
  }

  /// A call that somebody waits for: four attempts within seconds.
  public static let request = RetryPolicy(retries: 3, baseMs: 500, capMs: 8000, longestRetryAfterMs: 30_000)

  /// What lies on disk: as long as it takes, at most five minutes apart.
  public static let outbox = RetryPolicy(retries: nil, baseMs: 1000, capMs: 300_000, longestRetryAfterMs: 3_600_000)

  /// One attempt: somebody else repeats it.
  static let once = RetryPolicy(retries: 0, baseMs: 0, capMs: 0, longestRetryAfterMs: 0)

  /// The milliseconds before a retry (the first is 1), with full jitter; nil: it is given up.
  func delay(before retry: Int, random: Double, retryAfterMs: Int?) -> Int? {
    if let retries, retry > retries { return nil }
    guard let retryAfterMs else {
      return Int(random * min(Double(capMs), Double(baseMs) * pow(2, Double(retry - 1))))
    }
    if retries != nil, retryAfterMs > longestRetryAfterMs { return nil }
    return min(retryAfterMs, longestRetryAfterMs) + Int(random * Double(baseMs))
  }
}

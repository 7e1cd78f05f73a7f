import Foundation

/// Members of a problem document (RFC 9457) used by the client.
private struct Problem: Decodable {
  var code: String?
  var title: String?
  var detail: String?
  var requestId: String?
  var errors: Faults?
}

/// The validation errors among `errors`. Gateways have errors of their own under this name, which are left out.
private struct Faults: Decodable {
  let all: [ParleyError.Fault]

  private struct Entry: Decodable {
    let fault: ParleyError.Fault?

    init(from decoder: any Decoder) throws {
      fault = try? ParleyError.Fault(from: decoder)
    }
  }

  init(from decoder: any Decoder) throws {
    all = ((try? [Entry](from: decoder)) ?? []).compactMap(\.fault)
  }
}

extension ParleyError {
  /// Converts an error response to an error.
  init(_ reply: WireReply, at now: Date) {
    self.init(Kind(status: reply.status))
    // A proxy's error page or a truncated document has no members: only the status is used.
    let problem = kind == .unreadable ? nil : readProblem(reply.body)
    status = reply.status
    code = problem?.code
    title = problem?.title
    detail = problem?.detail
    requestId = problem?.requestId ?? reply.header("X-Request-Id")
    errors = problem?.errors?.all ?? []
    retryable = [408, 425, 429].contains(status) || status >= 500 || code == "idempotency-key-in-use"
    retryAfterMs = reply.header("Retry-After").flatMap { readRetryAfter($0, at: now) }
  }

  /// A success with unexpected content, which is not from Parley.
  static func unreadable(_ reply: WireReply, cause: (any Error)? = nil) -> ParleyError {
    var error = ParleyError(.unreadable, "The response is not from Parley. Check the base URL.", cause: cause)
    error.status = reply.status
    error.requestId = reply.header("X-Request-Id")
    return error
  }

  /// A failure of the token provider, as retryable as its cause.
  static func providerFailed(_ cause: any Error) -> ParleyError {
    let why = (cause as? any LocalizedError)?.errorDescription ?? String(describing: cause)
    var error = ParleyError(.providerFailed, "The provider returned no access token: \(why)", cause: cause)
    if let known = cause as? ParleyError {
      error.retryable = known.retryable
      error.retryAfterMs = known.retryAfterMs
    } else if let lost = cause as? URLError {
      error.retryable = !permanent.contains(lost.code)
    }
    return error
  }

  /// Failures of `URLSession` that do not pass with time.
  private static let permanent: Set<URLError.Code> = [
    .cancelled, .badURL, .unsupportedURL, .userAuthenticationRequired, .appTransportSecurityRequiresSecureConnection,
  ]

  /// A failure of the outbox's disk. The answer is in memory, and later flushes send and remove it.
  static func storageFailed(_ cause: any Error) -> ParleyError {
    let why = "Answers cannot be stored on this device: \(cause.localizedDescription)"
    var error = ParleyError(.storageFailed, why, cause: cause)
    error.retryable = true
    return error
  }

  /// Work that exceeded its time limit in seconds.
  static func tooLate(_ what: String, after limit: TimeInterval) -> ParleyError {
    var error = ParleyError(.noReply, "\(what) within \(limit) s.")
    error.retryable = true
    return error
  }

  /// A failure that may pass, for custom token providers: calls that need the token are retried.
  public static func temporary(
    _ detail: String, retryAfterMs: Int? = nil, cause: (any Error)? = nil
  ) -> ParleyError {
    var error = ParleyError(.unavailable, detail, cause: cause)
    error.retryable = true
    error.retryAfterMs = retryAfterMs
    return error
  }

  static let userChanged = ParleyError(.userChanged, "The user changed while the call was in progress.")
}

extension ParleyError.Kind {
  private static let known: [Int: ParleyError.Kind] = [
    400: .malformed, 401: .unauthenticated, 403: .forbidden, 404: .notFound, 405: .methodNotAllowed,
    406: .notAcceptable, 408: .timedOut, 409: .conflict, 410: .gone, 412: .preconditionFailed, 413: .tooLarge,
    415: .unsupportedMediaType, 422: .invalid, 425: .unavailable, 429: .rateLimited, 431: .headersTooLarge,
    500: .internal, 501: .notImplemented,
  ]

  init(status: Int) {
    let byClass: ParleyError.Kind = status < 400 ? .unreadable : status < 500 ? .malformed : .unavailable
    self = Self.known[status] ?? byClass
  }
}

private func readProblem(_ body: Data) -> Problem? {
  try? JSON.decoder.decode(Problem.self, from: body)
}

/// Limit of a parsed `Retry-After`.
private let longestRetryAfterMs = 1_000_000_000_000

/// Parses `Retry-After` (seconds or a date, RFC 9110) to milliseconds; nil if absent or invalid.
private func readRetryAfter(_ value: String, at now: Date) -> Int? {
  if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
    return min(Int(value) ?? .max, longestRetryAfterMs / 1000) * 1000  // nil: more digits than an integer has
  }
  let format = DateFormatter()
  format.locale = Locale(identifier: "en_US_POSIX")
  format.timeZone = TimeZone(secondsFromGMT: 0)
  format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
  return format.date(from: value).map { date in
    min(max(0, Int((date.timeIntervalSince(now) * 1000).rounded())), longestRetryAfterMs)
  }
}

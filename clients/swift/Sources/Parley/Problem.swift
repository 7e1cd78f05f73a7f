import Foundation

/// The members of a problem document (RFC 9457) that a client looks at.
private struct Problem: Decodable {
  var code: String?
  var title: String?
  var detail: String?
  var requestId: String?
  var errors: [ParleyError.Fault]?
}

extension ParleyError {
  /// A reply that is no success, as an error.
  init(_ reply: WireReply, at now: Date) {
    self.init(Kind(status: reply.status))
    // A proxy's page, or a document that broke off, has no members: the status alone tells what it is.
    let problem = kind == .unreadable ? nil : readProblem(reply.body)
    status = reply.status
    code = problem?.code
    title = problem?.title
    detail = problem?.detail
    requestId = problem?.requestId ?? reply.header("X-Request-Id")
    errors = problem?.errors ?? []
    retryable = [408, 425, 429].contains(status) || status >= 500 || code == "idempotency-key-in-use"
    retryAfterMs = reply.header("Retry-After").flatMap { readRetryAfter($0, at: now) }
  }

  /// A success that holds something else than it should: the answer came from another server than Parley.
  static func unreadable(_ reply: WireReply, cause: (any Error)? = nil) -> ParleyError {
    var error = ParleyError(.unreadable, "The reply is not Parley's: is the base URL right?", cause: cause)
    error.status = reply.status
    error.requestId = reply.header("X-Request-Id")
    return error
  }

  static let userChanged = ParleyError(.userChanged, "Another user has logged in since the call began.")
}

extension ParleyError.Kind {
  private static let known: [Int: ParleyError.Kind] = [
    400: .malformed, 401: .unauthenticated, 403: .forbidden, 404: .notFound, 405: .methodNotAllowed,
    406: .notAcceptable, 408: .timedOut, 409: .conflict, 412: .preconditionFailed, 413: .tooLarge,
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

/// `Retry-After` in milliseconds: seconds or a date (RFC 9110); nil where it says neither.
private func readRetryAfter(_ value: String, at now: Date) -> Int? {
  if !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) {
    return Int(value).map { min($0, 1_000_000_000) * 1000 }
  }
  let format = DateFormatter()
  format.locale = Locale(identifier: "en_US_POSIX")
  format.timeZone = TimeZone(secondsFromGMT: 0)
  format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
  return format.date(from: value).map { max(0, Int(($0.timeIntervalSince(now) * 1000).rounded())) }
}

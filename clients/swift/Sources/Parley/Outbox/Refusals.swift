import Foundation

/// Statuses by which servers and firewalls refuse the content of a request.
private let refusing = [400, 403, 406, 413, 415, 422]

extension ParleyError {
  private var isOfParley: Bool {
    code?.range(of: "^[a-z-]+$", options: .regularExpression) != nil
  }

  /// Whether the content of a request was refused: fewer answers may pass. A 2xx that is not of Parley is the page of a firewall.
  /// Parley's own 403 is about the user.
  var isRefusal: Bool {
    status == 403 ? !isOfParley : refusing.contains(status) || (200..<300).contains(status)
  }

  /// Whether Parley itself refused the content: it will not accept it later.
  var isFinalRefusal: Bool {
    [413, 422].contains(status) && isOfParley
  }

  /// The error for an answer that was refused on the way and waits for its next try.
  static func refused(_ answer: NewAnswer, _ cause: ParleyError) -> ParleyError {
    let why = "A firewall or proxy refuses the answer \(answer.id), which is tried every hour: \(cause)"
    var error = ParleyError(cause.kind, why, cause: cause)
    error.status = cause.status
    error.code = "refused"
    return error
  }
}

extension OutboxEntry {
  /// Time between two tries of a refused answer.
  static let retryAfter: TimeInterval = 3600
  /// How long a refused answer is tried, from its `answeredAt`.
  static let longest: TimeInterval = 30 * 24 * 3600

  /// Whether an answer may be tried now. A time that is more than an hour ahead is that of a clock that was wrong.
  func isDue(at now: Date) -> Bool {
    guard let nextTryAt else { return true }
    return nextTryAt <= now || nextTryAt > now.addingTimeInterval(Self.retryAfter)
  }

  /// Whether an answer was refused for so long that it is given up.
  func isOver(at now: Date) -> Bool {
    guard let given = answer.answeredAt ?? answer.displayedAt else { return false }
    return now.timeIntervalSince(given) > Self.longest
  }
}

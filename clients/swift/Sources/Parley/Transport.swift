import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
  private typealias RedirectHandler = (URLRequest?) -> Void
#else
  private typealias RedirectHandler = @Sendable (URLRequest?) -> Void
#endif

/// Sends requests with `URLSession`, without cookies, cache or redirects.
final class Transport: Sendable {
  private let session: URLSession

  init(timeout: TimeInterval) {
    let settings = URLSessionConfiguration.ephemeral
    settings.timeoutIntervalForRequest = timeout
    settings.timeoutIntervalForResource = timeout
    settings.urlCache = nil  // ETags are handled by the client: a cache would turn a 304 into a 200
    settings.requestCachePolicy = .reloadIgnoringLocalCacheData
    settings.httpShouldSetCookies = false
    session = URLSession(configuration: settings, delegate: StaysWhereItIs(), delegateQueue: nil)
  }

  deinit {
    session.finishTasksAndInvalidate()
  }

  func exchange(_ request: WireRequest) async throws -> WireReply {
    guard let url = URL(string: request.url) else { throw ParleyError(.invalidArgument, "\(request.url) is not a URL") }
    var outgoing = URLRequest(url: url)
    outgoing.httpMethod = request.method
    outgoing.httpBody = request.body
    for (name, value) in request.headers { outgoing.setValue(value, forHTTPHeaderField: name) }
    return try await receive(outgoing)
  }

  private func receive(_ request: URLRequest) async throws -> WireReply {
    let running = Guarded<URLSessionTask?>(nil)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let task = session.dataTask(with: request) { body, response, error in
          continuation.resume(with: Result { try readReply(body, response, error) })
        }
        running.use { $0 = task }
        task.resume()
        if Task.isCancelled { task.cancel() }
      }
    } onCancel: {
      running.use { $0 }?.cancel()
    }
  }
}

private func readReply(_ body: Data?, _ response: URLResponse?, _ error: (any Error)?) throws -> WireReply {
  guard let response = response as? HTTPURLResponse, error == nil else { throw error ?? URLError(.badServerResponse) }
  let headers = response.allHeaderFields.compactMap { name, value in
    (name as? String).map { ($0, String(describing: value)) }
  }
  let named = Dictionary(headers, uniquingKeysWith: { first, _ in first })
  return WireReply(status: response.statusCode, headers: named, body: body ?? Data())
}

private final class StaysWhereItIs: NSObject, URLSessionTaskDelegate, Sendable {
  func urlSession(
    _: URLSession, task _: URLSessionTask, willPerformHTTPRedirection _: HTTPURLResponse, newRequest _: URLRequest,
    completionHandler: @escaping RedirectHandler
  ) {
    completionHandler(nil)
  }
}

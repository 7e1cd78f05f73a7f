import Foundation

/// Returns the base that paths are appended to: `https`, or `http` on localhost (specification 4.3).
///
/// `allowHTTP` accepts `http` for any host. Throws `insecureURL` for any other URL.
func checkBaseURL(_ text: String, allowHTTP: Bool = false) throws -> String {
  guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
    let host = parts.host?.lowercased(), !host.isEmpty,
    scheme == "https" || (scheme == "http" && (allowHTTP || isLoopback(host))),
    parts.user == nil, parts.password == nil, parts.query == nil, parts.fragment == nil
  else {
    // Not quoted: it may contain a password.
    throw ParleyError(
      .insecureURL,
      "The base URL must use https:// (or http://localhost), without credentials, query or fragment. "
        + "For plain HTTP in a trusted network, set allowHTTP.")
  }
  let shown = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
  var path = parts.percentEncodedPath
  while path.hasSuffix("/") { path.removeLast() }
  return "\(scheme)://\(shown)\(parts.port.map { ":\($0)" } ?? "")\(path)"
}

private func isLoopback(_ host: String) -> Bool {
  if host == "localhost" || host.hasSuffix(".localhost") { return true }
  if host == "[::1]" || host == "::1" { return true }
  let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
  return numbers.count == 4 && numbers[0] == 127 && !numbers.contains(nil)
}

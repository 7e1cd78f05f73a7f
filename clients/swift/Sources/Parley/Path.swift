import Foundation

/// Query parameters; nil is omitted.
typealias Query = [(name: String, value: String?)]

/// Builds a path of percent-encoded segments, with its query.
///
/// Throws `invalidArgument` for empty segments, `.` and `..`, which would change the path.
func path(_ segments: String..., query: Query = []) throws -> String {
  for segment in segments where ["", ".", ".."].contains(segment) {
    throw ParleyError(.invalidArgument, "An id must not be \"\(segment)\"")
  }
  let asked = query.compactMap { name, value in value.map { "\(percentEncoded(name))=\(percentEncoded($0))" } }
  let path = "/v1/" + segments.map(percentEncoded).joined(separator: "/")
  return asked.isEmpty ? path : "\(path)?\(asked.joined(separator: "&"))"
}

/// Percent-encodes everything except the unreserved characters of RFC 3986.
private func percentEncoded(_ text: String) -> String {
  text.utf8.map { byte in
    unreserved.contains(byte) ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte).uppercased()
  }.joined()
}

private let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

/// A byte as two hex digits.
func hexadecimal(_ byte: UInt8) -> String {
  String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
}

import Foundation

/// A query: names with what is asked for; what is nil is left out.
typealias Query = [(name: String, value: String?)]

/// A path of percent-encoded segments, with its query.
///
/// Throws `invalidArgument` for a segment that is empty, `.` or `..`: no URL can hold it, it would lead to another path.
func path(_ segments: String..., query: Query = []) throws -> String {
  for segment in segments where ["", ".", ".."].contains(segment) {
    throw ParleyError(.invalidArgument, "An id must be the name of something, not \"\(segment)\"")
  }
  let asked = query.compactMap { name, value in value.map { "\(percentEncoded(name))=\(percentEncoded($0))" } }
  let path = "/v1/" + segments.map(percentEncoded).joined(separator: "/")
  return asked.isEmpty ? path : "\(path)?\(asked.joined(separator: "&"))"
}

/// Text of which everything but the unreserved characters of RFC 3986 is percent-encoded.
private func percentEncoded(_ text: String) -> String {
  text.utf8.map { byte in
    unreserved.contains(byte) ? String(UnicodeScalar(byte)) : "%" + hexadecimal(byte).uppercased()
  }.joined()
}

private let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

/// A byte as two digits.
func hexadecimal(_ byte: UInt8) -> String {
  String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
}

import Foundation

/// Generates an id for an answer or a message: a UUIDv7 (RFC 9562), sortable by time per device.
public func newId(at now: Date = Date()) -> String {
  var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }  // the cryptographically secure system generator
  let time = UInt64(max(0, now.timeIntervalSince1970 * 1000))
  for index in 0..<6 { bytes[index] = UInt8(truncatingIfNeeded: time >> (8 * (5 - UInt64(index)))) }
  bytes[6] = 0x70 | (bytes[6] & 0x0f)
  bytes[8] = 0x80 | (bytes[8] & 0x3f)
  let digits = bytes.map(hexadecimal)
  let groups = [digits[0..<4], digits[4..<6], digits[6..<8], digits[8..<10], digits[10..<16]]
  return groups.map { $0.joined() }.joined(separator: "-")
}

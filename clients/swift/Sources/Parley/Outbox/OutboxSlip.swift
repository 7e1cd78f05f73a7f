import Foundation

/// Parsed file name of an answer: `<position>-<milliseconds of the first revision>-<id>.json`.
struct OutboxSlip: Sendable {
  let place: Int
  let recordedAt: Date
  let id: String
  let name: String

  init(place: Int, recordedAt: Date, id: String) {
    self.place = place
    self.recordedAt = recordedAt
    self.id = id
    name = "\(place)-\(Int((recordedAt.timeIntervalSince1970 * 1000).rounded()))-\(id).json"
  }

  /// nil for other files.
  init?(name: String) {
    let parts = name.split(separator: "-", maxSplits: 2).map(String.init)
    guard parts.count == 3, parts[2].hasSuffix(".json"), let place = Int(parts[0]), let recorded = Int(parts[1])
    else { return nil }
    self.place = place
    recordedAt = Date(timeIntervalSince1970: Double(recorded) / 1000)
    id = String(parts[2].dropLast(".json".count))
    self.name = name
  }
}

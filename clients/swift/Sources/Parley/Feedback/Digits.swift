import Foundation

/// Writes a number as the server accepts it: digits of other scripts in ASCII, and the signs that their keyboards have.
func plainNumber(_ text: String) -> String {
  var plain = ""
  for scalar in text.unicodeScalars {
    switch scalar {
    case "\u{61C}", "\u{200E}", "\u{200F}": continue  // marks of direction
    case "−", "－", "﹣": plain += "-"
    case "٫", "．": plain += "."
    case "،", "，": plain += ","
    default: plain += digit(scalar) ?? String(scalar)
    }
  }
  return plain
}

private func digit(_ scalar: Unicode.Scalar) -> String? {
  guard scalar.properties.generalCategory == .decimalNumber else { return nil }
  return scalar.properties.numericValue.map { String(Int($0)) }
}

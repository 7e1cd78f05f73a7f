import Foundation

/// A color of sRGB.
public struct RGB: Hashable, Sendable {
  public let red: UInt8
  public let green: UInt8
  public let blue: UInt8

  public static let black = RGB(red: 0, green: 0, blue: 0)
  public static let white = RGB(red: 255, green: 255, blue: 255)

  public init(red: UInt8, green: UInt8, blue: UInt8) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Reads `#rrggbb`; nil for any other text.
  public init?(_ text: String) {
    guard text.range(of: "^#[0-9A-Fa-f]{6}$", options: .regularExpression) != nil else { return nil }
    guard let number = UInt32(text.dropFirst(), radix: 16) else { return nil }
    self.init(
      red: UInt8(truncatingIfNeeded: number >> 16), green: UInt8(truncatingIfNeeded: number >> 8),
      blue: UInt8(truncatingIfNeeded: number))
  }

  /// `#rrggbb`.
  public var text: String {
    "#" + channels.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private var channels: [UInt8] {
    [red, green, blue]
  }

  /// Relative luminance of WCAG 2.2, from 0 for black to 1 for white.
  var luminance: Double {
    let light = channels.map { channel -> Double in
      let part = Double(channel) / 255
      return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
    }
    return 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2]
  }

  /// Contrast with another color, from 1 to 21.
  func contrast(with other: RGB) -> Double {
    let (one, two) = (luminance, other.luminance)
    return (max(one, two) + 0.05) / (min(one, two) + 0.05)
  }

  /// Black or white, whichever is easier to read on the color. The server chooses in the same way.
  var readable: RGB {
    RGB.black.contrast(with: self) >= RGB.white.contrast(with: self) ? .black : .white
  }

  /// The color with a share of another one, 0…1.
  func mixed(with other: RGB, share: Double) -> RGB {
    let parts = zip(channels, other.channels).map { own, other in
      UInt8((Double(own) * (1 - share) + Double(other) * share).rounded())
    }
    return RGB(red: parts[0], green: parts[1], blue: parts[2])
  }
}

extension RGB: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let color = RGB(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "not #rrggbb")
    }
    self = color
  }
}

import Foundation

/// Token response of your backend or Parley's public endpoint (specification 2).
public struct Credential: Codable, Sendable {
  public let accessToken: String
  /// Seconds until the token expires, from its receipt. Without it, the time in the token is used.
  public var expiresIn: Double?
  /// False for a public token: its user is only claimed, and is not the verified user of that name.
  public var verified = true

  public init(accessToken: String, expiresIn: Double? = nil, verified: Bool = true) {
    self.accessToken = accessToken
    self.expiresIn = expiresIn
    self.verified = verified
  }

  private enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
    case expiresIn = "expires_in"
  }
}

/// Owner of a token or an answer.
struct Owner: Codable, Hashable, Sendable {
  let tenant: String
  let identity: String
  /// False if a public token only claims the identity. Absent from answers recorded by versions before 0.2.
  var verified: Bool?

  /// Whether both are the same user. A claimed user is not the verified user of that name.
  func isSame(as other: Owner) -> Bool {
    tenant == other.tenant && identity == other.identity
      && (verified ?? other.verified) == (other.verified ?? verified)
  }
}

/// A token with its decoded claims. They are verified by the server, not here.
struct Token: Sendable, Equatable {
  /// Maximum lifetime of a token in seconds (specification 5.3).
  private static let longestLife: TimeInterval = 3600
  /// Remaining lifetime at which a token is replaced.
  private static let renewBefore: TimeInterval = 60

  let text: String
  let owner: Owner
  /// End of its life by the clock of this device.
  let expiresAt: Date
  /// When a new one is requested.
  let renewAt: Date

  /// Throws if the credential is not an access token.
  init(_ credential: Credential, receivedAt now: Date) throws {
    let parts = credential.accessToken.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let json = Data(base64URL: parts[1]) else { throw NotAnAccessToken() }
    let claims = try JSONDecoder().decode(Claims.self, from: json)
    let life = Self.life(of: credential, until: Date(timeIntervalSince1970: claims.exp), now)
    text = credential.accessToken
    owner = Owner(tenant: claims.sub, identity: claims.grants.identity, verified: credential.verified)
    expiresAt = now.addingTimeInterval(life)
    renewAt = now.addingTimeInterval(life - min(Self.renewBefore, life / 2))
  }

  /// Lifetime from now on. The clock of a device is often wrong: without `expiresIn`, an expiry that is past, imminent or
  /// too far away is not evidence. The token is then used until the server rejects it.
  private static func life(of credential: Credential, until expiry: Date, _ now: Date) -> TimeInterval {
    if let seconds = credential.expiresIn, seconds > 0 { return min(seconds, longestLife) }
    let life = expiry.timeIntervalSince(now)
    return life > renewBefore && life <= longestLife ? life : longestLife
  }
}

private struct Claims: Decodable {
  struct Grants: Decodable {
    let identity: String
  }
  let sub: String
  let exp: Double
  let grants: Grants
}

struct NotAnAccessToken: LocalizedError {
  var errorDescription: String? { "The provider did not return an access token." }
}

extension Data {
  fileprivate init?(base64URL text: Substring) {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
  }
}

import Foundation

/// An access token, as your backend or Parley's public endpoint answers it (specification 2).
public struct Credential: Codable, Sendable {
  public let accessToken: String

  public init(accessToken: String) {
    self.accessToken = accessToken
  }

  private enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
  }
}

/// Whose something is.
struct Owner: Codable, Hashable, Sendable {
  let tenant: String
  let identity: String
}

/// A token with what it says of itself. Nothing of that is proven here: the server does it.
struct Token: Sendable, Equatable {
  let text: String
  let owner: Owner
  let expiresAt: Date

  /// Throws where the credential is no access token.
  init(_ credential: Credential) throws {
    let parts = credential.accessToken.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let json = Data(base64URL: parts[1]) else { throw NotAnAccessToken() }
    let claims = try JSONDecoder().decode(Claims.self, from: json)
    text = credential.accessToken
    owner = Owner(tenant: claims.sub, identity: claims.grants.identity)
    expiresAt = Date(timeIntervalSince1970: claims.exp)
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
  var errorDescription: String? { "The provider gave something else than an access token." }
}

extension Data {
  fileprivate init?(base64URL text: Substring) {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
  }
}

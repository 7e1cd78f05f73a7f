import Foundation

/// Token response of your backend or Parley's public endpoint (specification 2).
public struct Credential: Codable, Sendable {
  public let accessToken: String

  public init(accessToken: String) {
    self.accessToken = accessToken
  }

  private enum CodingKeys: String, CodingKey {
    case accessToken = "access_token"
  }
}

/// Owner of a token or an answer.
struct Owner: Codable, Hashable, Sendable {
  let tenant: String
  let identity: String
}

/// A token with its decoded claims. They are verified by the server, not here.
struct Token: Sendable, Equatable {
  let text: String
  let owner: Owner
  let expiresAt: Date

  /// Throws if the credential is not an access token.
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
  var errorDescription: String? { "The provider did not return an access token." }
}

extension Data {
  fileprivate init?(base64URL text: Substring) {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.count % 4) % 4))
  }
}

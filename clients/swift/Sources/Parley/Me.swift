import Foundation

/// The user an access token was issued for.
public struct Me: Decodable, Equatable, Sendable {
  public struct CredentialKind: OpenText {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
    public static let accessToken: Self = "access-token"
    public static let publicAccessToken: Self = "public-access-token"
  }

  public let credential: CredentialKind
  public let tenantId: String
  public let identity: String
  /// Whether the tenant's backend has verified the user.
  public let identityVerified: Bool
  public let expiresAt: Date
}

import Foundation

/// Provides the current user's token or throws an error.
public struct TokenProvider: Sendable {
  package let fetch: @Sendable () async throws -> Credential

  public init(_ fetch: @escaping @Sendable () async throws -> Credential) {
    self.fetch = fetch
  }

  /// A callback-based provider; the completion must be called once with a credential or an error.
  public init(asking ask: @escaping @Sendable (@escaping @Sendable (Result<Credential, any Error>) -> Void) -> Void) {
    self.init {
      try await withCheckedThrowingContinuation { continuation in
        ask { continuation.resume(with: $0) }
      }
    }
  }

  /// Requests tokens from your backend (specification 4.3): `POST` without a body, response `{"access_token": …}`.
  ///
  /// `headers` authenticate the user to your backend, such as `Authorization`; they are evaluated for each token.
  /// `allowHTTP` accepts `http` for any host. Throws `insecureURL`.
  public static func endpoint(
    _ url: String, allowHTTP: Bool = false, wire: Wire = Wire(), headers: @escaping @Sendable () async throws -> [String: String]
  ) throws -> TokenProvider {
    guard var origin = URLComponents(string: url) else { throw ParleyError(.insecureURL, "\(url) is not a URL") }
    origin.query = nil
    _ = try checkBaseURL(origin.string ?? "", allowHTTP: allowHTTP)
    return TokenProvider {
      let request = WireRequest(method: "POST", url: url, headers: try await headers(), body: nil)
      return try await wire.send(request).readCredential()
    }
  }

  /// For apps without a backend (specification 4.2): restricted tokens for unverified users.
  ///
  /// `keyId` is the ID of a public key. `userId` is the user id that the app claims, evaluated for each token.
  /// `allowHTTP` accepts `http` for any host. Throws `insecureURL`, `invalidArgument`.
  public static func publicTokens(
    baseURL: String, tenantId: String, keyId: String, allowHTTP: Bool = false, wire: Wire = Wire(),
    userId: @escaping @Sendable () -> String
  ) throws -> TokenProvider {
    let url = try checkBaseURL(baseURL, allowHTTP: allowHTTP) + path("tenants", tenantId, "issuers", "public", "auth", "token")
    guard keyId.hasPrefix("key_") else { throw ParleyError(.invalidArgument, "keyId must be the id of a public key") }
    let basic = "Basic " + Data("api_key:\(keyId)".utf8).base64EncodedString()
    return TokenProvider {
      let headers = ["Authorization": basic, "Content-Type": "application/json", "User-Agent": userAgent]
      let body = try JSON.encoder.encode(["user_id": userId()])
      let request = WireRequest(method: "POST", url: url, headers: headers, body: body)
      var credential = try await wire.send(request).readCredential()
      credential.verified = false
      return credential
    }
  }
}

extension WireReply {
  fileprivate func readCredential() throws -> Credential {
    do {
      return try JSONDecoder().decode(Credential.self, from: body)
    } catch {
      throw ParleyError.unreadable(self, cause: error)
    }
  }
}

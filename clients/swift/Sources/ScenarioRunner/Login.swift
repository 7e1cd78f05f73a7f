import Foundation
import Parley

/// The signed-in user and the tokens issued by the tenant's backend.
actor Login {
  private let setting: Setting
  private(set) var user = ""
  private var kinds: [String] = []
  /// Number of provider calls since the login.
  private(set) var calls = 0

  init(_ setting: Setting) {
    self.setting = setting
  }

  func change(to user: String, kinds: [String]) {
    self.user = user
    self.kinds = kinds
    calls = 0
  }

  func nextToken() async throws -> Credential {
    let kind = kinds[min(calls, kinds.count - 1)]
    calls += 1
    return try await provider(kind).fetch()
  }

  private func provider(_ kind: String) throws -> TokenProvider {
    let user = user
    if kind == "public" {
      return try .publicTokens(
        baseURL: setting.baseURL, tenantId: setting.tenantId, keyId: setting.publicKeyId, userId: { user })
    }
    return try .endpoint("\(setting.tokenURL)?token=\(kind)", headers: { ["Authorization": "Bearer \(user)"] })
  }
}

import XCTest

@testable import Parley

final class URLTests: XCTestCase {
  func testAcceptedURLs() throws {
    for each in try contract("urls.json")["accepted"]!.list {
      XCTAssertEqual(try checkBaseURL(each["url"]!.text!), each["base"]!.text!)
    }
  }

  func testRefusedURLsMakeNoClientAndNoProvider() throws {
    for each in try contract("urls.json")["refused"]!.list {
      let url = each["url"]!.text!
      XCTAssertThrowsError(try ParleyClient(baseURL: url, provider: steady), url, isInsecure)
      let makePublic = { try TokenProvider.publicTokens(baseURL: url, tenantId: "t", keyId: "key_1", userId: { "1" }) }
      XCTAssertThrowsError(try makePublic(), url, isInsecure)
    }
    XCTAssertThrowsError(try TokenProvider.endpoint("http://example.com/token", headers: { [:] }), "", isInsecure)
    XCTAssertNoThrow(try TokenProvider.endpoint("https://example.com/token?kind=1", headers: { [:] }))
  }

  private func isInsecure(_ error: any Error) {
    XCTAssertEqual((error as? ParleyError)?.kind, .insecureURL)
  }
}

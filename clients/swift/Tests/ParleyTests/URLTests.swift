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

  func testPlainHTTPNeedsAnOption() throws {
    for each in try contract("urls.json")["accepted_with_allow_http"]!.list {
      let url = each["url"]!.text!
      XCTAssertEqual(try checkBaseURL(url, allowHTTP: true), each["base"]!.text!)
      XCTAssertThrowsError(try checkBaseURL(url), url, isInsecure)
      var options = ParleyClient.Options()
      options.allowHTTP = true
      options.outboxFolder = temporaryFolder()
      XCTAssertNoThrow(try ParleyClient(baseURL: url, provider: steady, options: options))
      XCTAssertNoThrow(try TokenProvider.endpoint(url, allowHTTP: true, headers: { [:] }))
    }
    for each in try contract("urls.json")["refused_with_allow_http"]!.list {
      let url = each["url"]!.text!
      XCTAssertThrowsError(try checkBaseURL(url, allowHTTP: true), url, isInsecure)
    }
  }

  private func isInsecure(_ error: any Error) {
    XCTAssertEqual((error as? ParleyError)?.kind, .insecureURL)
  }
}

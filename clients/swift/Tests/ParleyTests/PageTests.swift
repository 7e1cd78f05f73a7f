import Foundation
import XCTest

@testable import Parley

final class PageTests: XCTestCase {
  func testListsAsIterators() async throws {
    for each in try contract("pages.json").list { try await check(each) }
  }

  func testAnIterationEndsAtTheLogout() async throws {
    let (stage, login) = (Stage(), LoggedIn())
    let client = try makeClient(stage, provider: login.provider)
    await stage.serve([cue(.list([.number(1), .number(2)]), next: 1), cue(.list([.number(3)]), next: nil)])
    var subjects: [String] = []
    let came = await outcome {
      for try await item in client.listConversations() {
        subjects.append(item.subject)
        _ = login.become("user|2")
        try await logOut(client)
      }
    }
    XCTAssertEqual(came.name, "user-changed")
    XCTAssertEqual(subjects, ["1"])
    let sent = await stage.sent
    XCTAssertEqual(sent.count, 1)
  }

  private func check(_ each: Value) async throws {
    let (stage, name) = (Stage(), each["name"]!.text!)
    let pages = each["pages"]!.list
    await stage.serve(pages.indices.map { cue(pages[$0], next: $0 + 1 < pages.count ? $0 + 1 : nil) })
    let client = try makeClient(stage, provider: steady)
    var subjects: [Int] = []
    let came = await outcome {
      for try await item in client.listConversations(conversationQuery(each["query"])) {
        subjects.append(Int(item.subject)!)
        if subjects.count == each["take"]?.int { break }
      }
    }
    XCTAssertEqual(subjects, each["items"]!.list.map { $0.int! }, name)
    XCTAssertEqual(came.name, each["failure"]?.text ?? "success", name)
    let queries = await stage.sent.map { query($0) }
    XCTAssertEqual(queries, each["requests"]!.list.map { $0.object.mapValues { $0.text! } }, name)
  }

  private func query(_ request: WireRequest) -> [String: String] {
    let items = URLComponents(string: request.url)?.queryItems ?? []
    return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value ?? "") })
  }

  private func cue(_ page: Value, next: Int?) -> Cue {
    if let status = page["status"]?.int { return Cue(status: status, body: #"{"code": "invalid-cursor"}"#) }
    let items = page.list.map { conversationJSON(subject: String($0.int!)) }.joined(separator: ",")
    let cursor = next.map { #""c\#($0)""# } ?? "null"
    return Cue(status: 200, body: #"{"data": [\#(items)], "has_more": \#(next != nil), "next_cursor": \#(cursor)}"#)
  }
}

func conversationJSON(subject: String) -> String {
  """
  {"id": "conversation_1", "identity": "user|1", "identity_verified": true, "subject": "\(subject)", "status": "open",
   "source": {"type": "user"}, "last_message": {"seq": 1, "preview": "-", "author_type": "user",
   "at": "2026-11-21T08:00:00.000Z"}, "message_count": 1, "unread_count": 0, "waiting_since": null,
   "first_reply_at": null, "resolved_at": null, "previous_id": null, "created_at": "2026-11-21T08:00:00.000Z",
   "updated_at": "2026-11-21T08:00:00.000Z", "last_activity_at": "2026-11-21T08:00:00.000Z"}
  """
}

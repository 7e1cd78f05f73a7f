import Foundation
import XCTest

@testable import Parley

/// Calls an operation with a case's arguments; ignores the result.
func call(_ operation: String, _ arguments: Value, of client: ParleyClient) async throws {
  let (query, body) = (arguments["query"], arguments["body"])
  let id = arguments["params"]?["id"]?.text ?? ""
  let messageId = arguments["params"]?["message_id"]?.text ?? ""
  let text = { (name: String) in body?[name]?.text }
  switch operation {
  case "whoAmI": _ = try? await client.whoAmI()
  case "patchMyAttributes":
    _ = try? await client.patchMyAttributes(["plan": "team", "seats": 5, "is_beta": true, "trial_ends": nil])
  case "listCards": _ = try? await client.listCards(cardQuery(query))
  case "recordAnswers": try await recordAnswers(body!, by: client)
  case "readAnswer": _ = try? await client.readAnswer(id)
  case "countUnreadConversations": _ = try? await client.countUnreadConversations()
  case "listConversations": _ = try? await client.listConversations(conversationQuery(query)).page()
  case "readConversation": _ = try? await client.readConversation(id)
  case "createConversation":
    _ = try? await client.createConversation(
      subject: text("subject"), message: text("message")!, clientMessageId: text("client_message_id")!)
  case "patchConversation": _ = try? await client.patchConversation(id, status: .init(rawValue: text("status")!))
  case "listMessages":
    let order = query?["order"]?.text.flatMap(Message.Order.init)
    let afterSeq = query?["after_seq"]?.int
    _ = try? await client.listMessages(id, afterSeq: afterSeq, order: order, limit: query?["limit"]?.int).page()
  case "createMessage":
    _ = try? await client.createMessage(id, body: text("body")!, clientMessageId: text("client_message_id")!)
  case "readMessage": _ = try? await client.readMessage(id, messageId)
  case "patchMessage": _ = try? await client.patchMessage(id, messageId, body: text("body")!)
  case "redactMessage": try await client.redactMessage(id, messageId)
  case "markConversationRead": try await client.markConversationRead(id, seq: body!["seq"]!.int!)
  default: XCTFail("an app can't do \(operation)")
  }
}

func cardQuery(_ query: Value?) -> CardQuery {
  var found = CardQuery(
    locale: query?["locale"]?.text, platform: query?["platform"]?.text, appVersion: query?["app_version"]?.text,
    limit: query?["limit"]?.int)
  found.triggers = query?["triggers"]?.flag ?? false
  return found
}

func conversationQuery(_ query: Value?) -> ConversationQuery {
  ConversationQuery(
    status: query?["status"]?.text.map { .init(rawValue: $0) }, unread: query?["unread"]?.flag,
    limit: query?["limit"]?.int, cursor: query?["cursor"]?.text)
}

private func recordAnswers(_ body: Value, by client: ParleyClient) async throws {
  let given = body["answers"]![0]
  let json = """
    {"id": "\(given["id"]!.text!)", "revision": 1, "card_id": "card_1", "question_id": "\(given["question_id"]!.text!)",
     "question_version": 1, "state": "completed", "values": {"main": 9}}
    """
  let answer = try JSON.decoder.decode(NewAnswer.self, from: Data(json.utf8))
  var call = try Call(operation: "recordAnswers", method: "POST", path: path("answers"))
  call.body = try JSON.encoder.encode(NewAnswers(answers: [answer]))
  _ = try await client.connection.request(call)
}

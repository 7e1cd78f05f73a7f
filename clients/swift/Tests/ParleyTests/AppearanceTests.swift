import Foundation
import XCTest

@testable import Parley

/// The cases of `clients/contract/appearance.json`, and the settings of the app.
final class AppearanceTests: XCTestCase {
  private struct Drawn: Decodable {
    struct Expected: Decodable {
      let scheme: String
      let accent: String?
      let onAccent: String?
      let background: String?
      let text: String?
      let radius: Double?
      let font: String
    }
    let name: String
    let appearance: Appearance?
    let system: String
    let behind: RGB?
    let expect: Expected
  }

  private struct Thanked: Decodable {
    struct Expected: Decodable {
      struct Link: Decodable {
        let label: String
        let url: String
      }
      let title: String
      let body: String?
      let link: Link?
    }
    let name: String
    let expect: Expected?
  }

  private struct Cases: Decodable {
    let drawn: [Drawn]
    let thanks: [Thanked]
    let placed: [Placed]
  }

  private struct Placed: Decodable {
    let name: String
    let card: String?
    let tenant: String?
    let expect: String
  }

  private func readCases() throws -> Cases {
    try JSON.decoder.decode(Cases.self, from: contractData("appearance.json"))
  }

  private func scheme(_ name: String) -> CardScheme {
    name == "dark" ? .dark : .light
  }

  func testTheDrawnAppearance() throws {
    let cases = try readCases().drawn
    XCTAssertGreaterThan(cases.count, 8)
    for each in cases {
      let drawn = CardScheme(each.appearance?.theme, system: scheme(each.system), behind: each.behind)
      XCTAssertEqual(drawn, scheme(each.expect.scheme), each.name)
      let (tokens, own) = (CardTokens(each.appearance, scheme: drawn), CardTokens(nil, scheme: drawn))
      XCTAssertEqual(tokens.accent.text, each.expect.accent ?? own.accent.text, each.name)
      XCTAssertEqual(tokens.onAccent.text, each.expect.onAccent ?? own.onAccent.text, each.name)
      XCTAssertEqual(tokens.background.text, each.expect.background ?? own.background.text, each.name)
      XCTAssertEqual(tokens.text.text, each.expect.text ?? own.text.text, each.name)
      XCTAssertEqual(tokens.radius, each.expect.radius ?? own.radius, each.name)
      XCTAssertEqual(tokens.font.rawValue == "system", each.expect.font == "system", each.name)
    }
  }

  func testThanks() throws {
    let given = try contract("appearance.json")["thanks"]!.list
    for (each, sent) in zip(try readCases().thanks, given) {
      let thanks = sent["thanks"].map { #""thanks": \#($0.json), "# } ?? ""
      let card = cardJSON(1).replacingOccurrences(of: #""steps""#, with: #"\#(thanks)"steps""#)
      let read = try JSON.decoder.decode(Card.self, from: Data(card.utf8)).thanks
      XCTAssertEqual(read?.title, each.expect?.title, each.name)
      XCTAssertEqual(read?.body, each.expect?.body, each.name)
      XCTAssertEqual(read?.link?.label, each.expect?.link?.label, each.name)
      XCTAssertEqual(read?.link?.url.absoluteString, each.expect?.link?.url, each.name)
    }
  }

  func testThePlace() throws {
    for each in try readCases().placed {
      let sent = each.card.map { #""placement": "\#($0)", "# } ?? ""
      let card = cardJSON(1).replacingOccurrences(of: #""steps""#, with: #"\#(sent)"steps""#)
      let appearance = try each.tenant.map {
        try JSON.decoder.decode(Appearance.self, from: Data(#"{"placement": "\#($0)"}"#.utf8))
      }
      let read = try JSON.decoder.decode(Card.self, from: Data(card.utf8))
      XCTAssertEqual(read.placement(in: appearance).rawValue, each.expect, each.name)
    }
  }

  func testAListBringsTheAppearanceAndKeepsItWith304() async throws {
    let stage = Stage()
    let client = try makeClient(stage, provider: steady)
    let list = { (more: String) in #"{"data": [\#(cardJSON(1))], "poll_after_s": 60\#(more)}"# }
    XCTAssertNil(client.appearance)
    await stage.serve([
      Cue(status: 200, headers: ["ETag": "a"], body: list(#", "appearance": {"theme": "dark", "placement": "modal"}"#)),
      Cue(status: 304), Cue(status: 200, body: list(#", "appearance": "later""#)), Cue(status: 200, body: list("")),
    ])
    for theme in [Appearance.Theme.dark, .dark, .auto] {
      let count = try await client.listCards().count
      XCTAssertEqual(count, 1)
      XCTAssertEqual(client.appearance?.theme, theme)
    }
    _ = try await client.listCards()
    XCTAssertNil(client.appearance, "a server before 0.3")
  }

  func testThanksAndPlacementOfAnUnknownForm() throws {
    let members = #""thanks": {"text": 1}, "placement": 7, "steps""#
    let card = cardJSON(1).replacingOccurrences(of: #""steps""#, with: members)
    let read = try JSON.decoder.decode(Card.self, from: Data(card.utf8))
    XCTAssertNil(read.thanks)
    XCTAssertNil(read.placement)
    let later = cardJSON(1).replacingOccurrences(of: #""steps""#, with: #""placement": "banner", "steps""#)
    XCTAssertEqual(try JSON.decoder.decode(Card.self, from: Data(later.utf8)).placement, "banner")
  }

  func testColors() {
    XCTAssertEqual(RGB("#0a0BfF"), RGB(red: 10, green: 11, blue: 255))
    XCTAssertEqual(RGB("#0a0BfF")?.text, "#0a0bff")
    for text in ["", "#fff", "0a0b0c", "#0a0b0g", "#0a0b0c0d", "# a0b0c", "red", "#0a0b0c\n"] { XCTAssertNil(RGB(text), text) }
    XCTAssertEqual(RGB.white.contrast(with: .black), 21, accuracy: 0.001)
    XCTAssertEqual(RGB("#2563eb")!.contrast(with: .white), 5.17, accuracy: 0.01)
  }

  /// WCAG AA in both schemes: texts 4.5:1, parts that show a state 3:1.
  func testTheColorsWithoutSettings() {
    for scheme in CardScheme.allCases {
      let tokens = CardTokens(nil, scheme: scheme)
      XCTAssertGreaterThanOrEqual(tokens.text.contrast(with: tokens.background), 4.5)
      XCTAssertGreaterThanOrEqual(tokens.error.contrast(with: tokens.background), 4.5)
      XCTAssertGreaterThanOrEqual(tokens.onAccent.contrast(with: tokens.accent), 4.5)
      XCTAssertGreaterThanOrEqual(tokens.accent.contrast(with: tokens.background), 3)
      XCTAssertGreaterThanOrEqual(tokens.border.contrast(with: tokens.background), 3)
    }
  }

  func testTheStyleOfTheAppComesFirst() {
    var tenant = Appearance()
    tenant.accent = RGB("#0f766e")
    tenant.background = RGB("#10213a")
    tenant.text = .white
    tenant.radius = 3
    let style = FeedbackStyle(
      light: .init(accent: RGB("#facc15"), background: .white), dark: .init(border: RGB("#ff0000")), radius: 20, font: .system)
    let light = CardTokens(tenant, style: style, scheme: .light)
    XCTAssertEqual([light.accent.text, light.onAccent.text], ["#facc15", "#000000"])
    XCTAssertEqual(light.text, .black, "the tenant's white would not be readable on the app's background")
    XCTAssertEqual(light.radius, 20)
    XCTAssertEqual(light.font, .system)
    let dark = CardTokens(tenant, style: style, scheme: .dark)
    XCTAssertEqual([dark.accent.text, dark.onAccent.text, dark.border.text], ["#0f766e", "#ffffff", "#ff0000"])
    XCTAssertEqual([dark.background.text, dark.text.text], ["#10213a", "#ffffff"])
    XCTAssertEqual(CardScheme(.page, system: .dark, behind: nil), .dark, "without a background, the system decides")
  }
}

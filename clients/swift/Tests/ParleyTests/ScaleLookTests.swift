import Foundation
import XCTest

@testable import Parley

/// The drawn and the accessible form of steps.
final class ScaleLookTests: XCTestCase {
  private func step(_ type: String, _ config: String = "{}", key: String = "main", required: Bool = true) throws -> CardStep {
    let text =
      #"{"key": "\#(key)", "type": "\#(type)", "title": "How likely?", "description": "", "config": \#(config), "#
      + #""required": \#(required), "show_if": null}"#
    return try JSON.decoder.decode(CardStep.self, from: Data(text.utf8))
  }

  private func look(_ type: String, _ config: String = "{}", width: Double = 375) throws -> ScaleLook {
    ScaleLook(try step(type, config), texts: FeedbackTexts(), width: width)
  }

  func testAScaleOfNumbers() throws {
    let nps = try look("nps", #"{"labels": {"low": "Not at all", "high": "Very"}}"#)
    XCTAssertEqual(nps.style, .number)
    XCTAssertEqual(nps.points.map(\.value), (0...10).map { .number($0) })
    XCTAssertEqual(nps.points.map(\.face), (0...10).map { .text(String($0)) })
    XCTAssertEqual(nps.points[0].name, "0 of 10, Not at all")
    XCTAssertEqual(nps.points[7].name, "7 of 10")
    XCTAssertEqual(nps.points[10].name, "10 of 10, Very")
    XCTAssertEqual(nps.ends?.low, "Not at all")
    XCTAssertEqual((0...10).filter { nps.isFilled($0, chosen: 7) }, [7])
    XCTAssertNil(try look("ces").ends)
    XCTAssertEqual(try look("ces", #"{"scale": 5, "labels": {"high": "Easy"}}"#).ends?.low, "")
    let german = ScaleLook(try step("nps"), texts: .german, width: 375)
    XCTAssertEqual(german.points[3].name, "3 von 10")
  }

  func testStarsFillUpToTheChosenOne() throws {
    let stars = try look("rating", #"{"style": "star", "scale": 5}"#)
    XCTAssertEqual(stars.style, .star)
    XCTAssertEqual(Set(stars.points.map(\.face)).count, 1)
    XCTAssertEqual((0..<5).filter { stars.isFilled($0, chosen: 2) }, [0, 1, 2])
    XCTAssertEqual((0..<5).filter { stars.isFilled($0, chosen: nil) }, [])
  }

  func testTenStarsAreNumbersInANarrowCard() throws {
    let ten = #"{"style": "star", "scale": 10}"#
    XCTAssertEqual(try look("rating", ten, width: 344).style, .star)
    let narrow = try look("rating", ten, width: 343)
    XCTAssertEqual(narrow.style, .number)
    XCTAssertEqual(narrow.points.map(\.value), (1...10).map { .number($0) }, "the chosen point stays the same")
    XCTAssertEqual((0..<10).filter { narrow.isFilled($0, chosen: 2) }, [2])
    XCTAssertEqual(try look("rating", #"{"style": "star", "scale": 5}"#, width: 200).style, .star)
    XCTAssertNotEqual(try look("rating", ten, width: 344), narrow)
  }

  func testFacesAndThumbs() throws {
    let faces = try look("csat", #"{"style": "smiley"}"#)
    XCTAssertEqual(faces.points.map(\.face), ["😠", "🙁", "😐", "🙂", "😀"].map { .text($0) })
    let thumbs = try look("thumbs")
    XCTAssertEqual(thumbs.points.map(\.value), [.flag(true), .flag(false)])
    XCTAssertEqual(thumbs.points.map(\.name), ["Thumbs up", "Thumbs down"])
    XCTAssertEqual([0, 1].filter { thumbs.isFilled($0, chosen: 1) }, [1])
  }

  func testOptionalStepsSaySo() throws {
    let texts = FeedbackTexts()
    XCTAssertEqual(try step("nps").heading(texts), "How likely?")
    XCTAssertEqual(try step("text", required: false).heading(texts), "How likely? (optional)")
    XCTAssertEqual(try step("statement", required: false).heading(texts), "How likely?", "has nothing to answer")
  }

  func testTheCommentAppearsOnceAScoreIsChosen() throws {
    let steps = [
      #"{"key": "main", "type": "nps", "title": "t", "description": "", "config": {}, "required": true, "show_if": null}"#,
      #"{"key": "why", "type": "ces", "title": "t", "description": "", "config": {}, "required": false, "show_if": null}"#,
    ]
    let text = cardJSON(1).replacingOccurrences(of: #""steps": []"#, with: #""steps": [\#(steps.joined(separator: ","))]"#)
    var walk = CardWalk(try JSON.decoder.decode(Card.self, from: Data(text.utf8)))
    XCTAssertFalse(walk.asksForComment)
    walk.set(.number(11), for: "main")
    XCTAssertFalse(walk.asksForComment, "not a score of the scale")
    walk.set(.number(0), for: "main")
    XCTAssertTrue(walk.asksForComment)
    XCTAssertEqual(walk.next()?.key, "why")
    walk.set(.number(3), for: "why")
    XCTAssertFalse(walk.asksForComment, "the comment belongs to the question")
    _ = walk.back()
    XCTAssertTrue(walk.asksForComment)
    let plain = cardJSON(1).replacingOccurrences(
      of: #""steps": []"#, with: #""steps": [\#(steps[0].replacingOccurrences(of: "nps", with: "text"))]"#)
    var textual = CardWalk(try JSON.decoder.decode(Card.self, from: Data(plain.utf8)))
    textual.set(.text("good"), for: "main")
    XCTAssertFalse(textual.asksForComment)
  }
}

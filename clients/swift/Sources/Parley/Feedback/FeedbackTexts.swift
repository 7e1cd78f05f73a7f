import Foundation

/// What the feedback view says beside the question itself. `{n}` and `{of}` stand for numbers.
public struct FeedbackTexts: Sendable {
  public var send = "Send"
  public var dismiss = "Not now"
  public var acknowledge = "OK"
  public var thanks = "Thank you for your feedback."
  public var comment = "Anything you want to add? (optional)"
  public var required = "Please answer the question."
  public var other = "Other"
  public var otherText = "Please say what"
  public var thumbsUp = "Thumbs up"
  public var thumbsDown = "Thumbs down"
  public var consent = "I agree"
  /// A point of a scale.
  public var point = "{n} of {of}"
  public var more = "Read more"
  public var tooShort = "Please write at least {n} characters."
  public var chooseAtLeast = "Please choose at least {n}."
  public var chooseAtMost = "Please choose at most {n}."
  public var email = "Please write an e-mail address."
  public var url = "Please write a complete address, with https://."
  public var number = "Please write a number."

  /// English.
  public init() {}

  public static let german: FeedbackTexts = {
    var texts = FeedbackTexts()
    texts.send = "Senden"
    texts.dismiss = "Nicht jetzt"
    texts.thanks = "Vielen Dank für Ihr Feedback."
    texts.comment = "Möchten Sie etwas hinzufügen? (freiwillig)"
    texts.required = "Bitte beantworten Sie die Frage."
    texts.other = "Anderes"
    texts.otherText = "Bitte sagen Sie, was"
    texts.thumbsUp = "Daumen hoch"
    texts.thumbsDown = "Daumen runter"
    texts.consent = "Ich stimme zu"
    texts.point = "{n} von {of}"
    texts.more = "Mehr dazu"
    texts.tooShort = "Bitte schreiben Sie mindestens {n} Zeichen."
    texts.chooseAtLeast = "Bitte wählen Sie mindestens {n}."
    texts.chooseAtMost = "Bitte wählen Sie höchstens {n}."
    texts.email = "Bitte schreiben Sie eine E-Mail-Adresse."
    texts.url = "Bitte schreiben Sie eine vollständige Adresse, mit https://."
    texts.number = "Bitte schreiben Sie eine Zahl."
    return texts
  }()

  /// The texts for a language (BCP 47): English where there are none.
  public static func `for`(_ language: String) -> FeedbackTexts {
    language.lowercased().split(separator: "-").first == "de" ? german : FeedbackTexts()
  }

  func say(_ text: String, _ number: Int, of last: Int? = nil) -> String {
    text.replacingOccurrences(of: "{n}", with: String(number))
      .replacingOccurrences(of: "{of}", with: String(last ?? number))
  }
}

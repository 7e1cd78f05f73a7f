import Foundation

/// UI texts of the feedback view. `{n}` and `{of}` are placeholders for numbers.
public struct FeedbackTexts: Sendable {
  public var send = "Send"
  public var next = "Next"
  public var back = "Back"
  /// Position in a card with several steps.
  public var progress = "Step {n} of {of}"
  public var dismiss = "Not now"
  public var acknowledge = "OK"
  public var thanks = "Thank you for your feedback."
  /// Accessible name of the button that closes the thanks.
  public var close = "Close"
  public var comment = "Anything to add? (optional)"
  /// After the title of a step that may be skipped.
  public var optional = "optional"
  public var required = "Please answer the question."
  public var other = "Other"
  public var otherText = "Please specify"
  public var thumbsUp = "Thumbs up"
  public var thumbsDown = "Thumbs down"
  public var consent = "I agree"
  /// Accessible name of a point on a scale.
  public var point = "{n} of {of}"
  public var more = "Read more"
  public var tooShort = "Please enter at least {n} characters."
  public var tooLong = "Please enter no more than {n} characters."
  public var chooseAtLeast = "Please select at least {n}."
  public var chooseAtMost = "Please select no more than {n}."
  public var email = "Please enter an email address."
  public var url = "Please enter a complete URL, including https://."
  public var number = "Please enter a number."

  /// English.
  public init() {}

  public static let german: FeedbackTexts = {
    var texts = FeedbackTexts()
    texts.send = "Senden"
    texts.next = "Weiter"
    texts.back = "Zurück"
    texts.progress = "Schritt {n} von {of}"
    texts.dismiss = "Nicht jetzt"
    texts.thanks = "Vielen Dank für Ihr Feedback."
    texts.close = "Schließen"
    texts.comment = "Möchten Sie etwas ergänzen? (optional)"
    texts.optional = "optional"
    texts.required = "Bitte beantworten Sie die Frage."
    texts.other = "Anderes"
    texts.otherText = "Bitte angeben"
    texts.thumbsUp = "Daumen hoch"
    texts.thumbsDown = "Daumen runter"
    texts.consent = "Ich stimme zu"
    texts.point = "{n} von {of}"
    texts.more = "Mehr erfahren"
    texts.tooShort = "Bitte geben Sie mindestens {n} Zeichen ein."
    texts.tooLong = "Bitte geben Sie höchstens {n} Zeichen ein."
    texts.chooseAtLeast = "Bitte wählen Sie mindestens {n}."
    texts.chooseAtMost = "Bitte wählen Sie höchstens {n}."
    texts.email = "Bitte geben Sie eine E-Mail-Adresse ein."
    texts.url = "Bitte geben Sie eine vollständige Adresse mit https:// ein."
    texts.number = "Bitte geben Sie eine Zahl ein."
    return texts
  }()

  /// Returns the texts for a language (BCP 47, or as in `Locale.identifier`), or English.
  public static func `for`(_ language: String) -> FeedbackTexts {
    let subtags = language.lowercased().split { "-_.@".contains($0) }
    let script = subtags.dropFirst().first { $0.count == 4 && $0.allSatisfy(\.isLetter) } ?? "latn"
    return subtags.first == "de" && script == "latn" ? german : FeedbackTexts()
  }

  func say(_ text: String, _ number: Int, of last: Int? = nil) -> String {
    text.replacingOccurrences(of: "{n}", with: String(number))
      .replacingOccurrences(of: "{of}", with: String(last ?? number))
  }
}

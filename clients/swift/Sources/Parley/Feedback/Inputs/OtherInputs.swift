#if canImport(UIKit)
  import UIKit

  /// Date input. Has no value until the user changes it.
  final class DateInput: StepInput {
    private let picker = UIDatePicker()
    private var isTouched = false

    override var value: AnswerValue? {
      guard isTouched else { return nil }
      let day = Calendar(identifier: .gregorian).dateComponents([.year, .month, .day], from: picker.date)
      return .text(String(format: "%04d-%02d-%02d", day.year ?? 0, day.month ?? 0, day.day ?? 0))
    }

    override func restore(_ value: AnswerValue) {
      guard case .text(let text) = value else { return }
      let parts = text.split(separator: "-").compactMap { Int($0) }
      guard parts.count == 3 else { return }
      let day = DateComponents(year: parts[0], month: parts[1], day: parts[2])
      guard let date = Calendar(identifier: .gregorian).date(from: day) else { return }
      picker.date = date
      isTouched = true
    }

    init(label: String) {
      super.init()
      picker.datePickerMode = .date
      picker.accessibilityLabel = label
      picker.addTarget(self, action: #selector(touch), for: .valueChanged)
      addArrangedSubview(picker)
    }

    @objc private func touch() {
      isTouched = true
      onChange()
    }
  }

  /// Consent input; has a value only if given.
  final class ConsentInput: StepInput {
    private let toggle = UISwitch()

    override var value: AnswerValue? {
      toggle.isOn ? .flag(true) : nil
    }

    override func restore(_ value: AnswerValue) {
      toggle.isOn = value == .flag(true)
    }

    init(label: String, paint: Paint) {
      super.init()
      toggle.accessibilityLabel = label
      toggle.addTarget(self, action: #selector(touch), for: .valueChanged)
      toggle.onTintColor = paint.accent
      let row = UIStackView(arrangedSubviews: [paint.write(label, .body), toggle])
      row.spacing = 8
      addArrangedSubview(row)
    }

    @objc private func touch() {
      onChange()
    }
  }

  /// No input; optionally a link.
  final class LinkInput: StepInput {
    private let url: URL?

    init(_ text: String?, label: String, paint: Paint) {
      let given = text.flatMap { URL(string: $0) }
      url = given.flatMap { ["http", "https"].contains($0.scheme?.lowercased()) ? $0 : nil }
      super.init()
      if url == nil { return }
      let button = paint.button(label)
      button.setTitleColor(paint.accent, for: .normal)
      button.contentHorizontalAlignment = .leading
      button.accessibilityTraits = .link
      button.addTarget(self, action: #selector(open), for: .touchUpInside)
      addArrangedSubview(button)
    }

    @objc private func open() {
      if let url { UIApplication.shared.open(url) }
    }
  }
#endif

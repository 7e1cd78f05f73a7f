@_exported import Foundation
import UIKit

@MainActor @preconcurrency
public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

extension Never: View {
  public var body: Never { fatalError() }
}

@resultBuilder
public enum ViewBuilder {
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
}

extension View {
  public func frame(width _: CGFloat? = nil, height _: CGFloat? = nil) -> some View { self }
}

public struct GeometryProxy {
  public var size: CGSize { .zero }
}

public struct GeometryReader<Content: View>: View {
  public init(@ViewBuilder content _: @escaping (GeometryProxy) -> Content) {}
  public var body: Never { fatalError() }
}

@propertyWrapper
public struct State<Value> {
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { fatalError() }
  public init(wrappedValue _: Value) {}
}

@propertyWrapper
public struct Binding<Value> {
  public var wrappedValue: Value {
    get { fatalError() }
    nonmutating set {}
  }
  public var projectedValue: Binding<Value> { self }
  public init(get _: @escaping () -> Value, set _: @escaping (Value) -> Void) {}
}

public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {}

@MainActor @preconcurrency
public protocol UIViewRepresentable: View where Body == Never {
  associatedtype UIViewType: UIView
  typealias Context = UIViewRepresentableContext<Self>
  func makeUIView(context: Context) -> UIViewType
  func updateUIView(_ view: UIViewType, context: Context)
}

extension UIViewRepresentable {
  public var body: Never { fatalError() }
}

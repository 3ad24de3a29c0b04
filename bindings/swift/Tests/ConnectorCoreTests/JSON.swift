import Foundation

/// A JSON value.
enum JSON: Codable, Equatable, CustomStringConvertible {
  case null
  case bool(Bool)
  case int(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let int = try? value.decode(Int64.self) {
      self = .int(int)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let string = try? value.decode(String.self) {
      self = .string(string)
    } else if let array = try? value.decode([JSON].self) {
      self = .array(array)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
  }

  func encode(to encoder: Encoder) throws {
    var place = encoder.singleValueContainer()
    switch self {
    case .null: try place.encodeNil()
    case .bool(let value): try place.encode(value)
    case .int(let value): try place.encode(value)
    case .number(let value): try place.encode(value)
    case .string(let value): try place.encode(value)
    case .array(let value): try place.encode(value)
    case .object(let value): try place.encode(value)
    }
  }

  init(text: String) throws { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) }

  var text: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }
  var description: String { text }

  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var string: String? { if case .string(let value) = self { value } else { nil } }
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  var object: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
  var strings: [String]? { array?.compactMap(\.string) }

  /// Whether what was expected is contained.
  func holds(_ expected: JSON) -> Bool {
    switch (self, expected) {
    case (.object(let found), .object(let expected)):
      expected.allSatisfy { name, value in (found[name] ?? .null).holds(value) }
    case (.array(let found), .array(let expected)):
      found.count == expected.count && zip(found, expected).allSatisfy { $0.holds($1) }
    default:
      self == expected
    }
  }

  static func of(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
  static func of(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

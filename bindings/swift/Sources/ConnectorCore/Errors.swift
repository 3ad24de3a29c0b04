import Foundation

extension ConnectorError {
  /// The stable code (`area.what`); docs/codes.md lists them.
  public var code: String { parts.code }

  /// One sentence for the developer. It holds no secret, no argument value and no URL with values.
  public var reason: String { parts.reason }

  /// One sentence for the model, where it can mend its call.
  public var advice: String? { parts.advice }

  /// The single breaches of a document, with line and column where its text is known.
  public var findings: [Finding] { parts.findings }

  private var parts: (code: String, reason: String, advice: String?, findings: [Finding]) {
    switch self {
    case .Manifest(let code, let reason, let advice, let findings),
      .Install(let code, let reason, let advice, let findings),
      .Grant(let code, let reason, let advice, let findings),
      .Export(let code, let reason, let advice, let findings),
      .Call(let code, let reason, let advice, let findings),
      .Plan(let code, let reason, let advice, let findings),
      .Credential(let code, let reason, let advice, let findings),
      .Network(let code, let reason, let advice, let findings),
      .Store(let code, let reason, let advice, let findings),
      .Closed(let code, let reason, let advice, let findings),
      .Host(let code, let reason, let advice, let findings),
      .Internal(let code, let reason, let advice, let findings):
      return (code, reason, advice, findings)
    }
  }
}

extension ConnectorError: LocalizedError {
  public var errorDescription: String? { reason }
}

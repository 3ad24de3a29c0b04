import ConnectorCore
import Foundation
import XCTest

/// The cases of bindings/cases, which every language runs; their README tells the format.
final class CasesTests: XCTestCase {
  /// Where the cases are.
  static let folder = URL(
    fileURLWithPath: ProcessInfo.processInfo.environment["CONNECTOR_CASES_OWN"]
      ?? URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../cases").standardized.path)

  func testEveryCaseComesOutAsItSays() throws {
    var cases = 0
    for file in ["manifests", "plans", "merges", "models", "hashes"] {
      let text = try String(contentsOf: Self.folder.appendingPathComponent("\(file).json"), encoding: .utf8)
      for one in try XCTUnwrap(try JSON(text: text)["cases"]?.array) {
        cases += 1
        let player = Player(runtime: try ConnectorRuntime.open(options: RuntimeOptions()), folder: Self.folder)
        for (number, step) in (one["steps"]?.array ?? []).enumerated() {
          let at = "\(file), \(one["name"]?.string ?? ""), step \(number + 1)"
          do {
            let found = try player.play(step)
            if let code = step["code"] { XCTFail("\(at): \(found) where \(code) is right") }
            if let gives = step["gives"], !found.holds(gives) { XCTFail("\(at): \(found)") }
          } catch let error as ConnectorError {
            XCTAssertEqual(error.code, step["code"]?.string, "\(at): \(error.reason)")
          }
        }
      }
    }
    print("\(cases) cases right")
  }
}

/// A runtime and what the steps before left.
private final class Player {
  private let runtime: ConnectorRuntime
  private let folder: URL
  private var contract = ""
  private var approval = ""

  init(runtime: ConnectorRuntime, folder: URL) {
    (self.runtime, self.folder) = (runtime, folder)
  }

  private struct Lacks: Error { let name: String }

  private func need(_ step: JSON, _ name: String) throws -> String {
    guard let text = step[name]?.string else { throw Lacks(name: name) }
    return text
  }

  func play(_ step: JSON) throws -> JSON {
    switch try need(step, "do") {
    case "check": return checked(try runtime.check(manifest: manifest(step)))
    case "install":
      return installed(
        try runtime.install(installation: installation(step), contract: seen(step), approval: approved(step)))
    case "review": return reviewed(try runtime.review(installation: installation(step)))
    case "setGrant":
      return installed(try runtime.setGrant(id: need(step, "id"), grant: grant(step), approval: approved(step)))
    case "reviewGrant": return reviewed(try runtime.reviewGrant(id: need(step, "id"), grant: grant(step)))
    case "remove":
      contract = try runtime.remove(id: need(step, "id"), contract: seen(step))
      return .object([:])
    case "list": return listed(try runtime.list())
    case "credential":
      let (id, name) = (try need(step, "id"), try need(step, "name"))
      try runtime.setCredential(id: id, name: name, value: Data(need(step, "value").utf8))
      return .object(["set": .bool(try runtime.hasCredential(id: id, name: name))])
    case "export":
      let model = ModelCapabilities(tools: step["tools"]?.bool ?? false, toolCalls: step["toolCalls"]?.bool ?? false)
      let export = try runtime.exportTools(model: model, only: step["only"]?.strings)
      contract = export.contract
      let names = try JSON(text: export.tools).array?.map { $0["function"]?["name"] ?? .null } ?? []
      return .object(["mode": .string("\(export.mode)"), "tools": .array(names)])
    case "grammar":
      let choice: ToolChoice =
        switch try need(step, "choice") {
        case "auto": .auto
        case "none": .none
        case "required": .required
        case let name: .named(name: name)
        }
      let export = try runtime.exportGrammar(
        envelope: try need(step, "envelope") == "hermes" ? .hermes : .json, choice: choice,
        parallel: step["parallel"]?.bool ?? false)
      contract = export.contract
      return .object(["lazy": .bool(export.lazy), "triggers": .of(export.triggers), "exact": .bool(export.exact)])
    case "read":
      let calls =
        if let result = step["result"] {
          try runtime.readCalls(contract: contract, result: result.text)
        } else {
          try runtime.readCallsInText(contract: contract, text: need(step, "text"))
        }
      let read = try calls.map { call in
        JSON.object(["name": .string(try call.name()), "arguments": try JSON(text: call.arguments())])
      }
      return .object(["calls": .array(read)])
    case "plan":
      let arguments = step["arguments"]?.string ?? step["arguments"]?.text ?? ""
      let plan = try runtime.plan(contract: contract, name: need(step, "tool"), arguments: arguments)
      return .object([
        "method": .string(try plan.method()), "url": .string(try plan.url()), "body": .of(try plan.body()),
        "headers": .array(try plan.headers().map { .of([try $0.name(), try $0.value()]) }),
        "needsConfirmation": .of(try plan.needsConfirmation()), "effect": .string("\(try plan.effect())"),
      ])
    case "shutdown":
      try runtime.shutdown()
      return .object([:])
    case let other: throw Lacks(name: other)
    }
  }

  private func seen(_ step: JSON) -> String? { step["contract"] == nil ? nil : contract }
  private func approved(_ step: JSON) -> String? { step["approved"]?.bool == true ? approval : nil }

  private func manifest(_ step: JSON) throws -> Data {
    if let text = step["text"]?.string { return Data(text.utf8) }
    return try Data(contentsOf: folder.appendingPathComponent("manifests/\(try need(step, "manifest")).json"))
  }

  private func installation(_ step: JSON) throws -> Installation {
    Installation(manifest: try manifest(step), source: step["source"]?.string ?? "test", grant: grant(step))
  }

  private func grant(_ step: JSON) -> Grant {
    let grant = step["grant"] ?? .object([:])
    let effects: [String: Effect] = ["read": .read, "write": .write, "destructive": .destructive]
    return Grant(
      origins: grant["origins"]?.object?.compactMapValues(\.string) ?? [:],
      settings: grant["settings"]?.object?.compactMapValues(setting) ?? [:],
      localNetwork: grant["localNetwork"]?.bool ?? false, overlayNetwork: grant["overlayNetwork"]?.bool ?? false,
      loopback: grant["loopback"]?.bool ?? false,
      cleartextCredentials: grant["cleartextCredentials"]?.bool ?? false,
      confirm: grant["confirm"]?.strings?.compactMap { effects[$0] }, flows: grant["flows"]?.strings ?? [],
      only: grant["only"]?.strings)
  }

  private func setting(_ value: JSON) -> SettingValue? {
    switch value {
    case .bool(let value): .flag(value: value)
    case .int(let value): .integer(value: value)
    case .number(let value): .decimal(value: value)
    case .string(let value): .text(value: value)
    default: nil
    }
  }

  private func checked(_ report: CheckReport) -> JSON {
    let findings = report.findings.map { finding in
      JSON.object([
        "rule": .string(finding.rule), "severity": .string("\(finding.severity)"), "pointer": .string(finding.pointer),
        "line": finding.line.map { .int(Int64($0)) } ?? .null, "column": finding.column.map { .int(Int64($0)) } ?? .null,
      ])
    }
    return .object(["id": .of(report.manifest?.id), "sha256": .of(report.manifest?.sha256), "findings": .array(findings)])
  }

  private func installed(_ outcome: InstallOutcome) -> JSON {
    contract = outcome.contract
    let tools = outcome.tools.map { ($0.name, JSON.string($0.effectHash)) }
    return .object(["tools": .object(Dictionary(uniqueKeysWithValues: tools))])
  }

  private func reviewed(_ review: Review) -> JSON {
    approval = review.approval
    let changes = review.changes.map {
      JSON.object(["kind": .string($0.kind), "tool": .of($0.tool), "pointer": .string($0.pointer)])
    }
    return .object(["changes": .array(changes), "needsApproval": .bool(review.needsApproval)])
  }

  private func listed(_ list: InstalledList) -> JSON {
    contract = list.contract
    let connectors = list.connectors.map {
      JSON.object([
        "id": .string($0.id), "version": .string($0.version), "title": .string($0.title), "source": .string($0.source),
        "origins": .of($0.origins), "credentials": .of($0.credentials), "effects": .of($0.effects.map { "\($0)" }),
        "tools": .of($0.tools.map(\.name)),
      ])
    }
    return .object(["connectors": .array(connectors)])
  }
}

import Foundation

extension ConnectorRuntime {
  /// Carries out a plan, once, and ends with the task: when that is cancelled, the socket is closed at once, and the error is
  /// `ConnectorError` with the code `net.cancelled` (or `outcome_unknown` for a write that may have happened).
  ///
  /// ```swift
  /// let plan = try connectors.plan(contract: contract, name: call.name(), arguments: call.arguments())
  /// let confirmation = try plan.needsConfirmation().isEmpty ? nil : await ask(plan)
  /// let answer = try await connectors.execute(plan, confirmation: confirmation)
  /// ```
  ///
  /// - Parameters:
  ///   - plan: What `plan` gave.
  ///   - confirmation: The digest that a person was shown, where `plan.needsConfirmation()` is not empty.
  ///   - maxChars: A smaller budget for the text than the manifest's.
  public func execute(_ plan: PlannedCall, confirmation: String? = nil, maxChars: UInt32? = nil) async throws -> Answer {
    let id = try plan.id()
    // A name of our own: the plan's may be in use for `cancel` elsewhere.
    let callId = UUID().uuidString
    return try await withTaskCancellationHandler {
      try await execute(plan: id, confirmation: confirmation, callId: callId, maxChars: maxChars)
    } onCancel: {
      _ = try? self.cancel(callId: callId)
    }
  }
}

/// The events of a runtime as a stream.
///
/// ```swift
/// let log = EventStream()
/// let connectors = try ConnectorRuntime.open(options: RuntimeOptions(log: log))
/// for await event in log.events { print(event.subject, event.outcome) }
/// ```
///
/// One reader; when it is more than 256 events behind, the oldest are lost here, and `ConnectorRuntime.audit` has them all.
public final class EventStream: LogSink {
  /// Every event.
  public let events: AsyncStream<AuditEvent>
  private let continuation: AsyncStream<AuditEvent>.Continuation

  public init() {
    (events, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
  }

  public func log(event: AuditEvent) throws {
    continuation.yield(event)
  }

  deinit {
    continuation.finish()
  }
}

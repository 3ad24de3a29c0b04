import Foundation

extension ConnectorRuntime {
  /// Carries out a plan, once, and ends with the task: when that is cancelled, the socket is closed at once, and the error is
  /// `ConnectorError` with the code `net.cancelled` (or `outcome_unknown` for a write that may have happened). A task that was
  /// cancelled before throws `CancellationError`, and the plan can still be used.
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
    try Task.checkCancellation()
    let call = try begin(plan: plan.id(), confirmation: confirmation, callId: UUID().uuidString, maxChars: maxChars)
    return try await withTaskCancellationHandler {
      try await call.answer()
    } onCancel: {
      _ = try? call.cancel()
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

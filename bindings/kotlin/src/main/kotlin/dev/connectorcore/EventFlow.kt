package dev.connectorcore

import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.SharedFlow
import kotlinx.coroutines.flow.asSharedFlow

/**
 * The events of a runtime as a flow.
 *
 * ```
 * val log = EventFlow()
 * val connectors = ConnectorRuntime.open(RuntimeOptions(log = log))
 * scope.launch { log.events.collect { println("${it.subject}: ${it.outcome}") } }
 * ```
 *
 * A collector that is more than [buffer] events behind loses the oldest; `ConnectorRuntime.audit` has them all.
 */
public class EventFlow(buffer: Int = 256) : LogSink {
    private val flow = MutableSharedFlow<AuditEvent>(0, buffer, BufferOverflow.DROP_OLDEST)

    /** Every event from the moment of collecting on. */
    public val events: SharedFlow<AuditEvent> = flow.asSharedFlow()

    override fun log(event: AuditEvent) {
        flow.tryEmit(event)
    }
}

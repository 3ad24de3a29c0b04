package dev.connectorcore

/**
 * Carries out a plan, once, and ends with the coroutine: when that is cancelled, the socket is closed at once.
 *
 * @param confirmation the digest that a person was shown, where [PlannedCall.needsConfirmation] is not empty
 * @param maxChars a smaller budget for the text than the manifest's
 */
public suspend fun ConnectorRuntime.execute(
    plan: PlannedCall,
    confirmation: String? = null,
    maxChars: UInt? = null,
): Answer = execute(plan.id(), confirmation, null, maxChars)

package dev.connectorcore

/** The stable code of an error (`area.what`); docs/codes.md lists them. */
public val ConnectorException.code: String get() = parts.code

/** One sentence for the developer. It holds no secret, no argument value and no URL with values. */
public val ConnectorException.reason: String get() = parts.reason

/** One sentence for the model, where it can mend its call. */
public val ConnectorException.advice: String? get() = parts.advice

/** The single breaches of a document, with line and column where its text is known. */
public val ConnectorException.findings: List<Finding> get() = parts.findings

private class Parts(val code: String, val reason: String, val advice: String?, val findings: List<Finding>)

private val ConnectorException.parts: Parts
    get() = when (this) {
        is ConnectorException.Manifest -> Parts(code, reason, advice, findings)
        is ConnectorException.Install -> Parts(code, reason, advice, findings)
        is ConnectorException.Grant -> Parts(code, reason, advice, findings)
        is ConnectorException.Export -> Parts(code, reason, advice, findings)
        is ConnectorException.Call -> Parts(code, reason, advice, findings)
        is ConnectorException.Plan -> Parts(code, reason, advice, findings)
        is ConnectorException.Credential -> Parts(code, reason, advice, findings)
        is ConnectorException.Network -> Parts(code, reason, advice, findings)
        is ConnectorException.Store -> Parts(code, reason, advice, findings)
        is ConnectorException.Closed -> Parts(code, reason, advice, findings)
        is ConnectorException.Host -> Parts(code, reason, advice, findings)
        is ConnectorException.Internal -> Parts(code, reason, advice, findings)
    }

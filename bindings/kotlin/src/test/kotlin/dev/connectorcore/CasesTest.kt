package dev.connectorcore

import java.io.File
import org.json.JSONArray
import org.json.JSONObject
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.fail

/** The cases of bindings/cases, which every language runs; their README tells the format. */
class CasesTest {
    private val folder = File("../cases")

    @TestFactory
    fun cases(): List<DynamicTest> = listOf("manifests", "plans", "merges", "models", "hashes").flatMap { file ->
        val cases = JSONObject(folder.resolve("$file.json").readText()).getJSONArray("cases")
        cases.objects().map { case -> dynamicTest("$file: ${case.getString("name")}") { play(case) } }
    }

    private fun play(case: JSONObject) = ConnectorRuntime.open(RuntimeOptions()).use { runtime ->
        val player = Player(runtime)
        case.getJSONArray("steps").objects().forEachIndexed { number, step ->
            val code = step.opt("code")
            val found = try {
                player.play(step)
            } catch (error: ConnectorException) {
                if (error.code != code) fail("step ${number + 1}: ${error.code} (${error.reason})")
                return@forEachIndexed
            }
            if (code != null) fail("step ${number + 1}: $found where $code is right")
            if (step.has("gives") && !holds(found, step.get("gives"))) fail("step ${number + 1}: $found")
        }
    }

    private inner class Player(val runtime: ConnectorRuntime) {
        var contract = ""
        var approval = ""

        fun play(step: JSONObject): JSONObject = when (val what = step.getString("do")) {
            "check" -> checked(runtime.check(manifest(step)))
            "install" -> installed(runtime.install(installation(step), contract(step), approval(step)))
            "review" -> reviewed(runtime.review(installation(step)))
            "setGrant" -> installed(runtime.setGrant(step.getString("id"), grant(step), approval(step)))
            "reviewGrant" -> reviewed(runtime.reviewGrant(step.getString("id"), grant(step)))
            "remove" -> JSONObject().also { contract = runtime.remove(step.getString("id"), contract(step)) }
            "list" -> listed(runtime.list())
            "credential" -> {
                val (id, name) = step.getString("id") to step.getString("name")
                runtime.setCredential(id, name, step.getString("value").toByteArray())
                JSONObject().put("set", runtime.hasCredential(id, name))
            }
            "export" -> {
                val model = ModelCapabilities(step.getBoolean("tools"), step.getBoolean("toolCalls"))
                val export = runtime.exportTools(model, step.optJSONArray("only")?.strings())
                contract = export.contract
                val names = JSONArray(export.tools).objects().map { it.getJSONObject("function").getString("name") }
                JSONObject().put("mode", export.mode.name.lowercase()).put("tools", JSONArray(names))
            }
            "grammar" -> {
                val envelope = Envelope.valueOf(step.getString("envelope").uppercase())
                val choice = when (val word = step.getString("choice")) {
                    "auto" -> ToolChoice.Auto
                    "none" -> ToolChoice.None
                    "required" -> ToolChoice.Required
                    else -> ToolChoice.Named(word)
                }
                val export = runtime.exportGrammar(envelope, choice, step.optBoolean("parallel"))
                contract = export.contract
                JSONObject().put("lazy", export.lazy).put("triggers", JSONArray(export.triggers)).put("exact", export.exact)
            }
            "read" -> {
                val calls = when (val result = step.optJSONObject("result")) {
                    null -> runtime.readCallsInText(contract, step.getString("text"))
                    else -> runtime.readCalls(contract, result.toString())
                }
                val read = calls.map { JSONObject().put("name", it.name()).put("arguments", JSONObject(it.arguments())) }
                JSONObject().put("calls", JSONArray(read))
            }
            "plan" -> {
                val plan = runtime.plan(contract, step.getString("tool"), step.get("arguments").toString())
                JSONObject()
                    .put("method", plan.method()).put("url", plan.url()).put("body", plan.body() ?: JSONObject.NULL)
                    .put("headers", JSONArray(plan.headers().map { JSONArray(listOf(it.name(), it.value())) }))
                    .put("needsConfirmation", JSONArray(plan.needsConfirmation()))
                    .put("effect", plan.effect().name.lowercase())
            }
            "shutdown" -> JSONObject().also { runtime.shutdown() }
            else -> fail("there is no step $what")
        }

        private fun contract(step: JSONObject) = if (step.has("contract")) contract else null

        private fun approval(step: JSONObject) = if (step.optBoolean("approved")) approval else null

        private fun installation(step: JSONObject) =
            Installation(manifest(step), step.optString("source", "test"), grant(step))

        private fun checked(report: CheckReport) = JSONObject()
            .put("id", report.manifest?.id ?: JSONObject.NULL)
            .put("sha256", report.manifest?.sha256 ?: JSONObject.NULL)
            .put("findings", JSONArray(report.findings.map {
                JSONObject().put("rule", it.rule).put("severity", it.severity.name.lowercase())
                    .put("pointer", it.pointer).put("line", it.line?.toInt()).put("column", it.column?.toInt())
            }))

        private fun installed(outcome: InstallOutcome): JSONObject {
            contract = outcome.contract
            val tools = outcome.tools.associate { it.name to it.effectHash }
            return JSONObject().put("tools", JSONObject(tools))
        }

        private fun reviewed(review: Review): JSONObject {
            approval = review.approval
            val changes = review.changes.map {
                JSONObject().put("kind", it.kind).put("tool", it.tool ?: JSONObject.NULL).put("pointer", it.pointer)
            }
            return JSONObject().put("changes", JSONArray(changes)).put("needsApproval", review.needsApproval)
        }

        private fun listed(list: InstalledList): JSONObject {
            contract = list.contract
            val connectors = list.connectors.map {
                JSONObject().put("id", it.id).put("version", it.version).put("title", it.title)
                    .put("source", it.source).put("origins", JSONArray(it.origins))
                    .put("credentials", JSONArray(it.credentials))
                    .put("effects", JSONArray(it.effects.map { effect -> effect.name.lowercase() }))
                    .put("tools", JSONArray(it.tools.map { tool -> tool.name }))
            }
            return JSONObject().put("connectors", JSONArray(connectors))
        }
    }

    private fun manifest(step: JSONObject): ByteArray =
        if (step.has("text")) step.getString("text").toByteArray()
        else folder.resolve("manifests/${step.getString("manifest")}.json").readBytes()

    private fun grant(step: JSONObject): Grant {
        val grant = step.optJSONObject("grant") ?: JSONObject()
        val origins = grant.optJSONObject("origins") ?: JSONObject()
        val settings = grant.optJSONObject("settings") ?: JSONObject()
        return Grant(
            origins = origins.keySet().associateWith { origins.getString(it) },
            settings = settings.keySet().associateWith { setting(settings.get(it)) },
            localNetwork = grant.optBoolean("localNetwork"),
            overlayNetwork = grant.optBoolean("overlayNetwork"),
            loopback = grant.optBoolean("loopback"),
            cleartextCredentials = grant.optBoolean("cleartextCredentials"),
            confirm = grant.optJSONArray("confirm")?.strings()?.map { Effect.valueOf(it.uppercase()) },
            flows = grant.optJSONArray("flows")?.strings() ?: emptyList(),
            only = grant.optJSONArray("only")?.strings(),
        )
    }

    private fun setting(value: Any): SettingValue = when (value) {
        is Boolean -> SettingValue.Flag(value)
        is Int -> SettingValue.Integer(value.toLong())
        is Number -> SettingValue.Decimal(value.toDouble())
        else -> SettingValue.Text(value as String)
    }

    /** Whether what was expected is contained. */
    private fun holds(found: Any?, expected: Any?): Boolean = when (expected) {
        is JSONObject -> found is JSONObject && expected.keySet().all { holds(found.opt(it), expected.get(it)) }
        is JSONArray -> found is JSONArray && found.length() == expected.length() &&
            (0 until expected.length()).all { holds(found.get(it), expected.get(it)) }
        JSONObject.NULL -> found == null || found == JSONObject.NULL
        else -> found == expected
    }
}

internal fun JSONArray.objects(): List<JSONObject> = (0 until length()).map { getJSONObject(it) }

internal fun JSONArray.strings(): List<String> = (0 until length()).map { getString(it) }

package dev.connectorcore

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.net.InetAddress
import java.net.InetSocketAddress
import java.util.concurrent.Executors

/** A server on loopback and a connector of it. */
internal class Notes(handle: (HttpExchange) -> Unit) : AutoCloseable {
    private val threads = Executors.newCachedThreadPool()
    private val server = HttpServer.create(InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 64).apply {
        createContext("/") { exchange -> exchange.use { handle(it) } }
        executor = threads
        start()
    }

    val origin = "http://127.0.0.1:${server.address.port}"

    val grant = Grant(origins = mapOf("server" to origin), loopback = true, cleartextCredentials = true)

    fun install(runtime: ConnectorRuntime): String =
        runtime.install(Installation(MANIFEST.toByteArray(), "test", grant)).contract

    override fun close() {
        server.stop(0)
        threads.shutdownNow()
    }

    companion object {
        fun answer(exchange: HttpExchange, json: String) {
            exchange.requestBody.readAllBytes()
            exchange.responseHeaders.add("Content-Type", "application/json")
            val bytes = json.toByteArray()
            exchange.sendResponseHeaders(200, bytes.size.toLong())
            exchange.responseBody.write(bytes)
        }

        const val MANIFEST = """{
            "manifestVersion": 1, "id": "notes", "version": "1", "title": "Notes", "description": "Finds and adds notes.",
            "origins": { "server": { "userProvided": { "title": "Your server", "localNetwork": true } } },
            "credentials": { "token": { "title": "Token", "origin": "server" } },
            "tools": [
              { "name": "find", "description": "Find notes.", "effect": "read",
                "parameters": { "type": "object", "properties": { "words": { "type": "string" } }, "required": ["words"] },
                "request": { "method": "GET", "origin": "server", "path": ["notes"], "query": { "q": { "${'$'}param": "words" } } } },
              { "name": "mine", "description": "Find my notes.", "effect": "read",
                "request": { "method": "GET", "origin": "server", "path": ["mine"],
                  "headers": { "Authorization": { "${'$'}credential": "token", "scheme": "Bearer" } } } },
              { "name": "add", "description": "Add a note.", "effect": "write",
                "parameters": { "type": "object", "properties": { "words": { "type": "string" } }, "required": ["words"] },
                "request": { "method": "POST", "origin": "server", "path": ["notes"], "body": { "json": { "text": { "${'$'}param": "words" } } } } }
            ]
          }"""
    }
}

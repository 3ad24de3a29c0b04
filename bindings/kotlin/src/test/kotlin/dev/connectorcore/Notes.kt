package dev.connectorcore

import com.sun.net.httpserver.HttpExchange
import com.sun.net.httpserver.HttpServer
import java.io.File
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
        runtime.install(Installation(File("../cases/manifests/served.json").readBytes(), "test", grant)).contract

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
    }
}

// The AAR: the libraries that `cargo xtask android` puts into src/main/jniLibs, and the Kotlin of bindings/kotlin.
plugins {
    id("com.android.library") version "8.13.0"
    id("org.jetbrains.kotlin.android") version "2.4.21"
}

android {
    namespace = "dev.connectorcore"
    compileSdk = 36

    defaultConfig {
        minSdk = 24
        consumerProguardFiles("consumer-rules.pro")
        // As llama.rn: a processor without a library here is refused at build time and not on the phone.
        ndk { abiFilters += listOf("arm64-v8a", "x86_64") }
    }

    sourceSets["main"].kotlin.srcDirs(
        "../../bindings/kotlin/src/generated/kotlin",
        "../../bindings/kotlin/src/main/kotlin",
    )

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_17
        targetCompatibility = JavaVersion.VERSION_17
    }
}

kotlin {
    jvmToolchain(17)
}

dependencies {
    // 5.17 and newer are aligned to 16 KB. The AAR brings JNA's own library for Android; the JAR would not.
    implementation("net.java.dev.jna:jna:5.19.1@aar")
    api("org.jetbrains.kotlinx:kotlinx-coroutines-core:1.11.0")
}

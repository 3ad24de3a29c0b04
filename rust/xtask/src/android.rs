//! `cargo xtask android`: the AAR of the libraries, by the Gradle project in `android/`.

use std::path::Path;
use std::process::Command;

use crate::library;
use crate::places;
use crate::target::{TARGETS, Target};
use crate::toolchain::{Choice, Toolchain};

/// Builds and packs.
///
/// # Errors
/// What is missing or fails.
pub fn run() -> Result<(), String> {
    let project = places::root().join("android");
    let wrapper = project.join(if cfg!(windows) { "gradlew.bat" } else { "gradlew" });
    let gradle = if wrapper.exists() { Some(wrapper) } else { places::program("gradle") };
    let gradle = gradle.ok_or(
        "An AAR is packed by Gradle, and there is no `gradle`. It also needs the Android SDK (ANDROID_HOME) and the NDK \
         (ANDROID_NDK_HOME). The libraries themselves are built and checked on Linux without any of them: cargo xtask \
         mobile --target aarch64-linux-android",
    )?;
    let exported = library::expected()?;
    for target in TARGETS.into_iter().filter(|target| !target.is_apple()) {
        let tools = Toolchain::find(target, Choice::Platform)?;
        let archive = library::archive(target, &tools, "mobile")?;
        let shared = library::shared(&archive, target, &tools, &exported)?;
        let to = project.join("connector-core/src/main").join(place(target)?);
        places::copy(&library::stripped(&shared, &tools)?, &to)?;
    }
    places::run(
        Command::new(gradle).arg("--project-dir").arg(&project).arg(":connector-core:assembleRelease"),
    )?;
    println!("{}", project.join("connector-core/build/outputs/aar").display());
    Ok(())
}

/// Where an AAR's build looks for the library of a target.
fn place(target: Target) -> Result<std::path::PathBuf, String> {
    let abi = target.android_abi().ok_or_else(|| format!("{} is not Android", target.triple))?;
    Ok(Path::new("jniLibs").join(abi).join(format!("lib{}.so", library::NAME)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_has_a_place_of_its_own() {
        let places: Vec<_> = TARGETS.into_iter().filter_map(|target| place(target).ok()).collect();
        assert_eq!(
            places,
            [
                Path::new("jniLibs/arm64-v8a/libconnector_ffi.so"),
                Path::new("jniLibs/x86_64/libconnector_ffi.so")
            ]
        );
    }

    #[test]
    fn the_project_has_the_processors_and_the_level_of_the_table() {
        let project = include_str!("../../../android/connector-core/build.gradle.kts");
        let abis: Vec<_> = TARGETS
            .iter()
            .filter_map(|target| target.android_abi())
            .map(|abi| format!("\"{abi}\""))
            .collect();
        assert!(project.contains(&format!("abiFilters += listOf({})", abis.join(", "))), "{abis:?}");
        assert!(project.contains(&format!("minSdk = {}\n", crate::target::ANDROID_MINIMUM)));
    }

    #[test]
    fn the_consumer_rules_keep_what_is_found_by_name() {
        let rules = include_str!("../../../android/connector-core/consumer-rules.pro");
        let kept = [
            "com.sun.jna.**",
            "* extends com.sun.jna.**",
            "* implements com.sun.jna.**",
            "dev.connectorcore.**",
        ];
        for class in kept {
            assert!(rules.contains(&format!("-keep class {class} {{ *; }}")), "{class}");
        }
        assert!(rules.lines().any(|line| line.starts_with("-keepattributes") && line.contains("RuntimeVisibleAnnotations")));
    }
}

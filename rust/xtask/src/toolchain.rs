//! Which compiler and linker build a target: those of the platform, or std from source where they are missing.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::ValueEnum;

use crate::places;
use crate::source::Source;
use crate::target::{ANDROID_MINIMUM, IOS_MINIMUM, Target};

/// What the command line may ask for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The platform's where they are installed, else from source.
    #[default]
    Auto,
    /// rustup's targets with Xcode or the NDK: what is shipped.
    Platform,
    /// A compiler with its library's source, LLVM and stubs: a proof on Linux, never shipped.
    Source,
}

/// What builds a target.
#[derive(Debug, Clone)]
pub enum Toolchain {
    /// rustup's targets and Xcode.
    Xcode,
    /// rustup's targets and an NDK.
    Ndk(Ndk),
    /// std from source.
    Source(Source),
}

/// An Android NDK.
#[derive(Debug, Clone)]
pub struct Ndk {
    bin: PathBuf,
}

impl Toolchain {
    /// Finds what builds this target here.
    ///
    /// # Errors
    /// What to install, where it is missing.
    pub fn find(target: Target, choice: Choice) -> Result<Self, String> {
        let platform = || if target.is_apple() { Self::xcode(target) } else { Self::ndk(target) };
        match choice {
            Choice::Platform => platform(),
            Choice::Source => Ok(Self::Source(Source::ready()?)),
            Choice::Auto => platform().or_else(|missing| {
                let source = Source::ready();
                source
                    .map(Self::Source)
                    .map_err(|also| format!("{missing}\nNor can std be built from source: {also}"))
            }),
        }
    }

    /// rustup's target, Xcode.
    fn xcode(target: Target) -> Result<Self, String> {
        if places::program("xcrun").is_none() {
            return Err(format!(
                "{} needs Xcode, which is on a Mac only: there is no `xcrun`.",
                target.triple
            ));
        }
        installed(target)?;
        Ok(Self::Xcode)
    }

    /// rustup's target, the NDK.
    fn ndk(target: Target) -> Result<Self, String> {
        let ndk = Ndk::of_environment()?;
        installed(target)?;
        Ok(Self::Ndk(ndk))
    }

    /// Its name in the record of sizes.
    ///
    /// # Errors
    /// A compiler that does not run.
    pub fn name(&self) -> Result<String, String> {
        match self {
            Self::Xcode => Ok("Xcode".into()),
            Self::Ndk(_) => Ok("NDK".into()),
            Self::Source(_) => Source::name(),
        }
    }

    /// cargo, with what it must find in its environment.
    pub fn cargo(&self, target: Target) -> Command {
        let mut cargo = match self {
            Self::Xcode | Self::Ndk(_) => clean(Path::new("cargo")),
            Self::Source(source) => source.cargo(target),
        };
        if target.is_apple() {
            cargo.env("IPHONEOS_DEPLOYMENT_TARGET", IOS_MINIMUM);
        }
        if let Self::Ndk(ndk) = self {
            let name = target.underscored();
            cargo
                .env(format!("CC_{name}"), ndk.linker(target))
                .env(format!("AR_{name}"), ndk.bin.join("llvm-ar"));
        }
        cargo
    }

    /// What the compiler of C is told beside what every toolchain's is.
    pub fn c_flags(&self) -> String {
        match self {
            Self::Xcode | Self::Ndk(_) => String::new(),
            Self::Source(source) => source.c_flags(),
        }
    }

    /// What links an Android library: a compiler, which takes the linker's words after `-Wl,`.
    ///
    /// # Errors
    /// Stubs that cannot be made, or a target that is not Android.
    pub fn android_linker(&self, target: Target) -> Result<Command, String> {
        match self {
            Self::Xcode => Err(format!("{} is not Android", target.triple)),
            Self::Ndk(ndk) => Ok(Command::new(ndk.linker(target))),
            Self::Source(source) => source.android_linker(target),
        }
    }

    /// A tool of LLVM's (`llvm-strip`); Xcode's own take other arguments, so there is none with it.
    pub fn llvm(&self, name: &str) -> Option<PathBuf> {
        match self {
            Self::Xcode => None,
            Self::Ndk(ndk) => Some(ndk.bin.join(name)),
            Self::Source(_) => Some(Source::llvm(name)),
        }
    }
}

impl Ndk {
    fn of_environment() -> Result<Self, String> {
        let names = ["ANDROID_NDK_HOME", "ANDROID_NDK_ROOT", "NDK_HOME"];
        let home = names.iter().find_map(env::var_os).map(PathBuf::from).ok_or_else(|| {
            "Android needs the NDK (r27 or newer): set ANDROID_NDK_HOME to its folder; Android Studio installs it under \
             SDK Manager, SDK Tools, NDK."
                .to_owned()
        })?;
        let prebuilt = home.join("toolchains/llvm/prebuilt");
        let hosts = std::fs::read_dir(&prebuilt)
            .map_err(|error| format!("no NDK at {}: {error}", prebuilt.display()))?;
        let mut bins = hosts.flatten().map(|host| host.path().join("bin")).filter(|bin| bin.is_dir());
        let bin = bins.next().ok_or_else(|| format!("no tools in {}", prebuilt.display()))?;
        Ok(Self { bin })
    }

    /// `aarch64-linux-android24-clang`: compiler and linker in one, with the API level in its name.
    fn linker(&self, target: Target) -> PathBuf {
        let end = if cfg!(windows) { "-clang.cmd" } else { "-clang" };
        self.bin.join(format!("{}{ANDROID_MINIMUM}{end}", target.triple))
    }
}

/// Whether the compiler has the target's std.
fn installed(target: Target) -> Result<(), String> {
    let folder = places::output(clean(Path::new("rustc")).args([
        "--print",
        "target-libdir",
        "--target",
        target.triple,
    ]))?;
    if Path::new(&folder).is_dir() {
        return Ok(());
    }
    Err(format!("{0} needs Rust's library for it: rustup target add {0}", target.triple))
}

/// A command without what `cargo xtask` itself was started with, which would lead another toolchain astray.
pub(crate) fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    let own = [
        "CARGO",
        "RUSTC",
        "RUSTDOC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
    ];
    let also = [
        "RUSTUP_TOOLCHAIN",
        "RUST_RECURSION_COUNT",
        "LD_LIBRARY_PATH",
        "CARGO_TARGET_DIR",
        "CARGO_BUILD_TARGET",
    ];
    for name in own.into_iter().chain(also) {
        command.env_remove(name);
    }
    command
}

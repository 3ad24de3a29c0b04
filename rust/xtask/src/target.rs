//! The one table of targets: every command builds from it.

/// The oldest iOS that the libraries start on.
pub const IOS_MINIMUM: &str = "15.1";
/// The oldest Android API level that the libraries load on.
pub const ANDROID_MINIMUM: u32 = 24;
/// The alignment of an Android library's segments: devices with 16 KB pages refuse a smaller one.
pub const ANDROID_PAGE: u64 = 16384;

/// What a library is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// A phone of Apple's.
    Ios,
    /// Its simulator on a Mac.
    IosSimulator,
    /// A phone with Android, or its emulator.
    Android,
}

/// The processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    /// `aarch64`, which Apple calls `arm64`.
    Arm64,
    /// `x86_64`.
    X86,
}

/// A line of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// Rust's name.
    pub triple: &'static str,
    /// What it is for.
    pub system: System,
    /// The processor.
    pub arch: Arch,
}

/// The targets that are built, in the order in which they are built. `arm64-v8a` and `x86_64` as llama.rn has them.
pub const TARGETS: [Target; 5] = [
    Target { triple: "aarch64-linux-android", system: System::Android, arch: Arch::Arm64 },
    Target { triple: "aarch64-apple-ios", system: System::Ios, arch: Arch::Arm64 },
    Target { triple: "aarch64-apple-ios-sim", system: System::IosSimulator, arch: Arch::Arm64 },
    Target { triple: "x86_64-apple-ios", system: System::IosSimulator, arch: Arch::X86 },
    Target { triple: "x86_64-linux-android", system: System::Android, arch: Arch::X86 },
];

impl Target {
    /// The line of this name.
    ///
    /// # Errors
    /// Names those that there are.
    pub fn named(triple: &str) -> Result<Self, String> {
        TARGETS.into_iter().find(|target| target.triple == triple).ok_or_else(|| {
            let known: Vec<_> = TARGETS.iter().map(|target| target.triple).collect();
            format!("no target `{triple}`; there are {}", known.join(", "))
        })
    }

    /// Whether Apple's tools link it.
    pub fn is_apple(self) -> bool {
        self.system != System::Android
    }

    /// The folder of an AAR that holds its library; nothing for Apple's.
    pub fn android_abi(self) -> Option<&'static str> {
        match (self.system, self.arch) {
            (System::Android, Arch::Arm64) => Some("arm64-v8a"),
            (System::Android, Arch::X86) => Some("x86_64"),
            (System::Ios | System::IosSimulator, _) => None,
        }
    }

    /// Apple's name of the processor.
    pub fn apple_arch(self) -> &'static str {
        match self.arch {
            Arch::Arm64 => "arm64",
            Arch::X86 => "x86_64",
        }
    }

    /// The triple as it stands in the names of environment variables: `aarch64_apple_ios`.
    pub fn underscored(self) -> String {
        self.triple.replace('-', "_")
    }

    /// clang's name of an Android target with its API level, which is also the name of the NDK's linker without
    /// `-clang`; nothing for Apple's.
    pub fn clang(self) -> Option<String> {
        (self.system == System::Android).then(|| format!("{}{ANDROID_MINIMUM}", self.triple))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found() {
        for target in TARGETS {
            assert_eq!(Target::named(target.triple), Ok(target));
        }
        let error = Target::named("armv7-linux-androideabi").unwrap_err();
        assert!(error.contains("aarch64-apple-ios-sim"), "{error}");
    }

    #[test]
    fn the_triple_agrees_with_the_columns() {
        for target in TARGETS {
            assert_eq!(
                target.triple.starts_with("aarch64-"),
                target.arch == Arch::Arm64,
                "{}",
                target.triple
            );
            assert_eq!(target.triple.contains("-apple-"), target.is_apple(), "{}", target.triple);
            assert_eq!(target.android_abi().is_some(), !target.is_apple(), "{}", target.triple);
        }
        // Rust has no `-sim` for the Intel Mac: its only iOS is the simulator.
        assert_eq!(Target::named("x86_64-apple-ios").unwrap().system, System::IosSimulator);
    }

    #[test]
    fn android_names_the_level() {
        assert_eq!(Target::named("x86_64-linux-android").unwrap().clang().unwrap(), "x86_64-linux-android24");
        assert_eq!(Target::named("aarch64-apple-ios").unwrap().clang(), None);
    }
}

//! std from source, on a Linux machine without rustup's targets, NDK and Xcode: Debian's compiler with its library's
//! source, clang and lld, two headers of our own and stubs of Android's libraries. It proves that the libraries exist
//! and what is in them; none of it is shipped.

use std::env;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::places;
use crate::symbols::AndroidNames;
use crate::target::Target;
use crate::toolchain::clean;

/// 1.96 and its source belong together: another compiler does not build it.
const PACKAGES: [&str; 6] = ["rustc-web", "cargo-web", "rust-web-src", "clang-22", "lld-22", "llvm-22"];
const LLVM: &str = "/usr/lib/llvm-22/bin";
const LIBRARY: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// An installed compiler with its library's source.
#[derive(Debug, Clone)]
pub struct Source {
    shim: PathBuf,
    stubs: PathBuf,
}

impl Source {
    /// Installs what is missing where that is possible: on Debian, as root.
    ///
    /// # Errors
    /// What to do where it is not.
    pub fn ready() -> Result<Self, String> {
        if !installed() {
            install()?;
        }
        if !installed() {
            return Err(format!("{} are installed, and {LLVM} or {LIBRARY} is missing", PACKAGES.join(" ")));
        }
        Ok(Self { shim: places::root().join("rust/xtask/shim"), stubs: places::cache().join("stubs") })
    }

    /// The compiler's own name for itself.
    ///
    /// # Errors
    /// One that does not run.
    pub fn name() -> Result<String, String> {
        Ok(format!("{}, std from source", places::output(Command::new("/usr/bin/rustc").arg("--version"))?))
    }

    /// cargo, ahead of rustup's.
    pub fn cargo(&self, target: Target) -> Command {
        let mut cargo = clean(Path::new("/usr/bin/cargo"));
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [LLVM, "/usr/bin"].into_iter().map(PathBuf::from).chain(env::split_paths(&path));
        if let Ok(path) = env::join_paths(folders) {
            cargo.env("PATH", path);
        }
        let name = target.underscored();
        cargo
            .env("RUSTC", "/usr/bin/rustc")
            // -Zbuild-std; the compiler is a stable one.
            .env("RUSTC_BOOTSTRAP", "1")
            // An SDK that is named is not asked of xcrun.
            .env("SDKROOT", &self.shim)
            .env(format!("CC_{name}"), "clang")
            .env(format!("AR_{name}"), "llvm-ar");
        cargo
    }

    /// By which ring's C finds its two headers.
    pub fn c_flags(&self) -> String {
        format!(
            " -nostdlibinc -DRING_CORE_NOSTDLIBINC=1 -isystem {}",
            self.shim.join("usr/include").display()
        )
    }

    /// A tool of LLVM's.
    pub fn llvm(name: &str) -> PathBuf {
        Path::new(LLVM).join(name)
    }

    /// clang as the linker, against stubs that export exactly the listed names: what is not in the list does not link.
    ///
    /// # Errors
    /// Stubs that cannot be made, or a target that is not Android.
    pub fn android_linker(&self, target: Target) -> Result<Command, String> {
        let clang = target.clang().ok_or_else(|| format!("{} is not Android", target.triple))?;
        let folder = self.stubs.join(target.triple);
        let list = places::root().join("rust/xtask/android/api24.txt");
        let list = String::from_utf8_lossy(&places::read(&list)?).into_owned();
        for (library, names) in AndroidNames::parse(&list)?.libraries {
            let source = folder.join(&library).with_extension("s");
            let file =
                if library.starts_with("lib") { format!("{library}.so") } else { format!("lib{library}.so") };
            places::write(&source, stub(names.iter()).as_bytes())?;
            let mut link = Command::new(Self::llvm("clang"));
            link.args([&format!("--target={clang}"), "-fuse-ld=lld", "-nostdlib", "-shared"]);
            link.arg(format!("-Wl,-soname,{file}")).arg("-o").arg(folder.join(&file)).arg(&source);
            places::run(&mut link)?;
        }
        let mut link = Command::new(Self::llvm("clang"));
        link.arg(format!("--target={clang}")).args(["-fuse-ld=lld", "-nostdlib"]);
        // The NDK's compiler names its own libunwind.a by itself.
        link.arg("-L").arg(&folder).arg("-Wl,--push-state,--no-as-needed,-lunwind,--pop-state");
        Ok(link)
    }
}

/// An assembler file that defines these names as functions that do nothing.
fn stub<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let mut text = String::from(".text\n");
    for name in names {
        let _ = writeln!(text, ".globl {name}\n.type {name}, %function\n{name}:\n.byte 0\n.size {name}, 1");
    }
    text
}

fn installed() -> bool {
    let needed = ["/usr/bin/cargo", "/usr/bin/rustc", LIBRARY];
    let tools =
        ["clang", "ld.lld", "ld64.lld", "llvm-ar", "llvm-strip"].map(|tool| Path::new(LLVM).join(tool));
    needed.iter().map(PathBuf::from).chain(tools).all(|path| path.exists())
}

fn install() -> Result<(), String> {
    let packages = PACKAGES.join(" ");
    let apt = places::program("apt-get").filter(|_| cfg!(target_os = "linux"));
    let Some(apt) = apt else {
        return Err("that needs Debian 12's packages, and there is no apt-get".into());
    };
    if places::output(Command::new("id").arg("-u"))? != "0" {
        return Err(format!("as root: apt-get install --no-install-recommends {packages}"));
    }
    let quiet =
        |command: &mut Command| places::output(command.env("DEBIAN_FRONTEND", "noninteractive")).map(drop);
    quiet(Command::new(&apt).arg("update"))?;
    quiet(Command::new(&apt).args(["install", "-y", "-q", "--no-install-recommends"]).args(PACKAGES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_defines_each_name_once() {
        let names = ["malloc".to_owned(), "free".to_owned()];
        let text = stub(names.iter());
        assert_eq!(text.matches("\nmalloc:\n").count(), 1);
        assert_eq!(text.matches(".globl").count(), 2);
    }

    #[test]
    fn the_list_of_android_is_well_formed() {
        let list = AndroidNames::parse(include_str!("../android/api24.txt")).unwrap();
        assert!(list.libraries.contains_key("unwind"));
        // 28 and newer: a library that asks for it by force does not load on the oldest phone.
        assert!(!list.libraries.values().any(|names| names.contains("getrandom")));
    }
}

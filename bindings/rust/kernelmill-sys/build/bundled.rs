//! The feature `bundled`: the library out of a release's archive for the target, which is downloaded
//! and whose checksum is compared with the one that the crate pins.

use std::env;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The archive that the crate pins for a target.
struct Pin<'a> {
    sha256: &'a str,
    url: &'a str,
}

/// The folder of the library, below `OUT_DIR`; an archive that is there already stays.
pub fn library() -> Result<PathBuf, String> {
    let pin = pin(include_str!("../bundled.txt"), &target())?;
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let tree = out.join("bundled");
    let stamp = tree.join("sha256");
    if fs::read_to_string(&stamp).is_ok_and(|unpacked| unpacked == pin.sha256) {
        return Ok(tree.join("lib"));
    }
    let archive = match env::var_os("KM_BUNDLED_ARCHIVE").filter(|path| !path.is_empty()) {
        Some(named) => PathBuf::from(named),
        None => download(&pin, &out.join("bundled.tar.xz"))?,
    };
    compare(&archive, &pin)?;
    unpack(&archive, &tree)?;
    fs::write(&stamp, pin.sha256).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(tree.join("lib"))
}

/// The target's name in the file, such as `x86_64-linux-gnu`.
fn target() -> String {
    let of = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    [of("ARCH"), of("OS"), of("ENV")].join("-")
}

/// The target's line of the file, which names the target, the checksum and the address.
fn pin<'a>(text: &'a str, target: &str) -> Result<Pin<'a>, String> {
    let mut known = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let mut words = line.split(' ');
        if let (Some(name), Some(sha256), Some(url)) = (words.next(), words.next(), words.next()) {
            if name == target {
                return Ok(Pin { sha256, url });
            }
            known.push(name);
        }
    }
    if known.is_empty() {
        return Err(
            "the feature `bundled` is for released crates: this kernelmill-sys, which comes \
                    from a checkout, pins no archive. Set KM_LIBRARY_DIR to the folder that holds \
                    libkernelmill.so, or leave the feature out"
                .to_owned(),
        );
    }
    let known = known.join(" and ");
    Err(format!("the feature `bundled` has a library for {known}, not for {target}"))
}

/// Runs the program; `None` where there is no such program.
fn run(command: &mut Command) -> Result<Option<String>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    match command.output() {
        Ok(done) if done.status.success() => {
            Ok(Some(String::from_utf8_lossy(&done.stdout).into_owned()))
        }
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stderr);
            Err(format!("{name} failed: {}", said.trim().replace('\n', "; ")))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

fn download(pin: &Pin<'_>, to: &Path) -> Result<PathBuf, String> {
    let mut curl = Command::new("curl");
    curl.args(["--fail", "--silent", "--show-error", "--location", "--retry", "3", "--output"]);
    let mut wget = Command::new("wget");
    wget.args(["--quiet", "--tries=3", "-O"]);
    for program in [&mut curl, &mut wget] {
        match run(program.arg(to).arg(pin.url)) {
            Ok(Some(_)) => return Ok(to.to_owned()),
            Ok(None) => {}
            Err(reason) => {
                return Err(format!(
                    "{} cannot be downloaded: {reason}. Set KM_BUNDLED_ARCHIVE to a copy of the \
                     archive, or KM_LIBRARY_DIR to the folder of an installed library",
                    pin.url
                ));
            }
        }
    }
    Err(format!(
        "the feature `bundled` downloads {} with curl or wget, and finds neither: install one, or \
         set KM_BUNDLED_ARCHIVE to a copy of the archive",
        pin.url
    ))
}

fn compare(archive: &Path, pin: &Pin<'_>) -> Result<(), String> {
    let file = File::open(archive).map_err(|error| format!("{}: {error}", archive.display()))?;
    let said = run(Command::new("sha256sum").stdin(file))?
        .ok_or("the feature `bundled` needs the program sha256sum of coreutils")?;
    let found = said.split_whitespace().next().unwrap_or_default();
    if found == pin.sha256 {
        return Ok(());
    }
    Err(format!(
        "{} is not the archive of this release: its SHA-256 is {found}, not {}",
        archive.display(),
        pin.sha256
    ))
}

fn unpack(archive: &Path, tree: &Path) -> Result<(), String> {
    if let Err(error) = fs::remove_dir_all(tree) {
        if error.kind() != ErrorKind::NotFound {
            return Err(format!("{}: {error}", tree.display()));
        }
    }
    fs::create_dir_all(tree).map_err(|error| format!("{}: {error}", tree.display()))?;
    let mut tar = Command::new("tar");
    tar.args(["--extract", "--xz", "--strip-components=1", "--no-same-owner", "--file"]);
    match run(tar.arg(archive).arg("--directory").arg(tree))? {
        Some(_) => Ok(()),
        None => Err("the feature `bundled` needs the programs tar and xz".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::pin;

    const TEXT: &str =
        "# a comment\nx86_64-linux-gnu 12ab https://x\naarch64-linux-gnu 34cd https://y\n";

    #[test]
    fn each_target_has_its_archive() {
        let of = |target| pin(TEXT, target).map(|found| (found.sha256, found.url));
        assert_eq!(of("x86_64-linux-gnu"), Ok(("12ab", "https://x")));
        assert_eq!(of("aarch64-linux-gnu"), Ok(("34cd", "https://y")));
        let said = of("x86_64-linux-musl").unwrap_err();
        assert!(
            said.ends_with("x86_64-linux-gnu and aarch64-linux-gnu, not for x86_64-linux-musl")
        );
    }

    #[test]
    fn a_checkout_pins_none() {
        assert!(
            pin("# a comment\n", "x86_64-linux-gnu").is_err_and(|said| said.contains("pins no"))
        );
    }
}

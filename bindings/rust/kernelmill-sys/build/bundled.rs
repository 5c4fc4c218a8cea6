//! The feature `bundled`: the library out of a release's archive, which is downloaded and whose
//! checksum is compared with the one that the crate pins.

use std::env;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The archive that the crate pins.
struct Pin<'a> {
    sha256: &'a str,
    url: &'a str,
}

/// The folder of the library, below `OUT_DIR`; an archive that is there already stays.
pub fn library() -> Result<PathBuf, String> {
    let pin = pin(include_str!("../bundled.txt"))?;
    check_platform()?;
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

/// The one line of the file that is no comment.
fn pin(text: &str) -> Result<Pin<'_>, String> {
    let line = text.lines().find(|line| !line.is_empty() && !line.starts_with('#'));
    let (sha256, url) = line.and_then(|line| line.split_once(' ')).ok_or(
        "the feature `bundled` is for released crates: this kernelmill-sys, which comes from a \
         checkout, pins no archive. Set KM_LIBRARY_DIR to the folder that holds libkernelmill.so, \
         or leave the feature out",
    )?;
    Ok(Pin { sha256, url: url.trim() })
}

fn check_platform() -> Result<(), String> {
    let of = |name: &str| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let target = [of("ARCH"), of("OS"), of("ENV")].join("-");
    if target == "x86_64-linux-gnu" {
        return Ok(());
    }
    Err(format!("the feature `bundled` has a library for x86_64-linux-gnu, not for {target}"))
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

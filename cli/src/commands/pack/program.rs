//! Program in a bundle.

use std::env;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{self, Path, PathBuf};

use crate::args::TargetArgs;
use crate::exit::Failure;

/// Maximum size of a program.
const MAX_BYTES: u64 = 1 << 30;

/// Compiled program, and the arguments with which hosts start it.
#[derive(Debug)]
pub(super) struct Binary {
    /// Absolute path of the file.
    pub(super) path: PathBuf,
    /// Name of the file.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    pub(super) args: Vec<String>,
    /// Name of the platform in manifests.
    pub(super) platform: &'static str,
    is_debug: bool,
}

impl Binary {
    /// Reads the program of a command line.
    pub(super) fn read(target: &TargetArgs) -> Result<Self, Failure> {
        let Some((program, args)) = target.program.split_first() else {
            return Err(Failure::usage("a bundle contains a program").note(
                "give it after `--`, for example `treenail pack -- target/release/my-server`",
            ));
        };
        let path = Path::new(program);
        let failure = |reason: &str| Failure::usage(format!("`{}`: {reason}", path.display()));
        let io = |error| Failure::io(format!("`{}`", path.display()))(error);
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| failure("the name of the program is not UTF-8"))?;
        if !fs::metadata(path).map_err(io)?.is_file() {
            return Err(failure("expected the path of a program"));
        }
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(io)?;
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(io)?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_BYTES) {
            return Err(failure("the program has more than 1 GiB"));
        }
        let platform = platform(&bytes).ok_or_else(|| {
            failure("this is no compiled program")
                .note("pack servers in other languages with the tool `mcpb` of npm")
        })?;
        let args = args.iter().map(|arg| {
            arg.to_str()
                .map(str::to_owned)
                .ok_or_else(|| failure("an argument is not UTF-8"))
        });
        Ok(Self {
            path: path::absolute(path).map_err(io)?,
            name: name.to_owned(),
            bytes,
            args: args.collect::<Result<_, _>>()?,
            platform,
            is_debug: path.components().any(|part| part.as_os_str() == "debug"),
        })
    }

    /// Returns the platform and the processor, for the name of a file. The program has run here, so they are known.
    pub(super) fn target(&self) -> String {
        format!("{}-{}", self.platform, env::consts::ARCH)
    }

    /// Returns whether the program is in a folder of debug builds.
    pub(super) fn is_debug(&self) -> bool {
        self.is_debug
    }
}

/// Returns the platform of a program by its first bytes: ELF, Mach-O or PE.
fn platform(bytes: &[u8]) -> Option<&'static str> {
    match bytes.first_chunk()? {
        [0x7f, b'E', b'L', b'F'] => Some("linux"),
        [0xcf | 0xce, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe] => Some("darwin"),
        [b'M', b'Z', ..] => Some("win32"),
        _ => None,
    }
}

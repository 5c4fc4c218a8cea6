//! Compilations with options.

use std::ffi::CString;

use super::result::{Nvrtc, NvrtcError};
use super::{CompileError, Ptx};
use crate::Program;

/// Options of NVRTC; those that are not set are not given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct CompileOptions {
    /// `--ftz`: denormal numbers count as zero.
    pub ftz: Option<bool>,
    /// `--prec-sqrt`: square roots are correctly rounded.
    pub prec_sqrt: Option<bool>,
    /// `--prec-div`: quotients are correctly rounded.
    pub prec_div: Option<bool>,
    /// `--fmad`: products and sums are contracted.
    pub fmad: Option<bool>,
    /// Options as NVRTC spells them.
    pub options: Vec<String>,
    /// `--use_fast_math`. (cudarc 0.19 gives `--fmad=true` in its place.)
    pub use_fast_math: Option<bool>,
    /// `--maxrregcount`: the most registers of a thread.
    pub maxrregcount: Option<usize>,
    /// `--include-path`: folders with headers.
    pub include_paths: Vec<String>,
    /// `--gpu-architecture`: "compute_80".
    pub arch: Option<&'static str>,
    /// The name of the program, for messages.
    pub name: Option<String>,
}

impl CompileOptions {
    /// The options as NVRTC takes them.
    fn build(self) -> Vec<String> {
        let flag = |name: &str, value: Option<bool>| value.map(|value| format!("--{name}={value}"));
        let mut options = Vec::new();
        options.extend(flag("ftz", self.ftz));
        options.extend(flag("prec-sqrt", self.prec_sqrt));
        options.extend(flag("prec-div", self.prec_div));
        options.extend(flag("fmad", self.fmad));
        options.extend((self.use_fast_math == Some(true)).then(|| "--use_fast_math".to_owned()));
        options.extend(self.maxrregcount.map(|count| format!("--maxrregcount={count}")));
        options.extend(self.include_paths.iter().map(|path| format!("--include-path={path}")));
        options.extend(self.arch.map(|arch| format!("--gpu-architecture={arch}")));
        options.extend(self.options);
        options
    }
}

/// Compiles CUDA C++ to PTX. Blocks while NVRTC works.
///
/// # Errors
///
/// Those of [`compile_ptx_with_opts`].
pub fn compile_ptx<S: AsRef<str>>(source: S) -> Result<Ptx, CompileError> {
    compile_ptx_with_opts(source, CompileOptions::default())
}

/// Compiles CUDA C++ to PTX with options. Blocks while NVRTC works.
///
/// ```
/// use kernelmill::nvrtc::{CompileError, compile_ptx};
/// let error = compile_ptx("__global__ void broken(").unwrap_err();
/// let CompileError::CompileError { log, .. } = &error else { panic!("{error}") };
/// assert!(log.to_string_lossy().contains("error"));
/// ```
///
/// # Errors
///
/// [`CompileError::CompileError`] with NVRTC's messages when the source does not compile, and when
/// NVRTC is not installed, with what to do; [`CompileError::CreationError`] when the source or the
/// name has a zero byte, or the library cannot be loaded.
pub fn compile_ptx_with_opts<S: AsRef<str>>(
    source: S,
    options: CompileOptions,
) -> Result<Ptx, CompileError> {
    let source = source.as_ref();
    let created = match options.name.as_deref() {
        Some(name) => Program::with_name(source, name),
        None => Program::new(source),
    };
    let program = created.nvrtc().map_err(CompileError::CreationError)?;
    let options = options.build();
    let compile = || {
        options.iter().try_for_each(|option| program.add_option(option))?;
        program.compile()
    };
    if let Err(error) = compile() {
        let nvrtc = NvrtcError::of_library(error);
        let log = program.log().unwrap_or_default().replace('\0', " ");
        let log = CString::new(log).unwrap_or_default();
        return Err(CompileError::CompileError { nvrtc, options, log });
    }
    let ptx = program.ptx().nvrtc().map_err(CompileError::GetPtxError)?;
    Ok(Ptx::from_src(ptx))
}

#[cfg(test)]
mod tests {
    use super::CompileOptions;

    #[test]
    fn options_that_are_not_set_are_not_given() {
        assert!(CompileOptions::default().build().is_empty());
    }

    #[test]
    fn options_are_spelled_as_nvrtc_takes_them() {
        let options = CompileOptions {
            ftz: Some(true),
            prec_sqrt: Some(false),
            prec_div: Some(false),
            fmad: Some(true),
            options: vec!["-DN=4".into()],
            use_fast_math: Some(true),
            maxrregcount: Some(60),
            include_paths: vec!["/a".into(), "/b".into()],
            arch: Some("compute_80"),
            name: Some("k.cu".into()),
        };
        let expected = [
            "--ftz=true",
            "--prec-sqrt=false",
            "--prec-div=false",
            "--fmad=true",
            "--use_fast_math",
            "--maxrregcount=60",
            "--include-path=/a",
            "--include-path=/b",
            "--gpu-architecture=compute_80",
            "-DN=4",
        ];
        assert_eq!(options.build(), expected);
    }
}

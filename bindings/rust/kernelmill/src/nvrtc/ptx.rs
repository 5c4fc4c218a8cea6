//! PTX, wherever it is.

use std::path::PathBuf;

/// PTX: compiled, given as a text, or in a file that is read when it is loaded.
///
/// [`CudaContext::load_module`](crate::driver::CudaContext::load_module) loads it.
#[derive(Clone, Debug)]
pub struct Ptx(pub(crate) PtxKind);

#[derive(Clone, Debug)]
pub(crate) enum PtxKind {
    Source(String),
    File(PathBuf),
    Binary(Vec<u8>),
}

impl Ptx {
    /// A file of PTX, or of CUDA C++ by its ending `.cu`, which is read when it is loaded.
    pub fn from_file(path: impl Into<PathBuf>) -> Self {
        Self(PtxKind::File(path.into()))
    }

    /// PTX as a text.
    pub fn from_src(source: impl Into<String>) -> Self {
        Self(PtxKind::Source(source.into()))
    }

    /// Machine code of a GPU, which cannot be loaded here: the error comes when it is loaded.
    #[must_use]
    pub fn from_binary(data: Vec<u8>) -> Self {
        Self(PtxKind::Binary(data))
    }

    /// The text, with bytes that are no UTF-8 replaced; empty for machine code, and for a file that
    /// cannot be read.
    #[must_use]
    pub fn to_src(&self) -> String {
        match &self.0 {
            PtxKind::Source(text) => text.clone(),
            PtxKind::File(path) => {
                let bytes = std::fs::read(path).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            PtxKind::Binary(_) => String::new(),
        }
    }

    /// The text's bytes, or those of machine code; none for a file.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match &self.0 {
            PtxKind::Source(text) => Some(text.as_bytes()),
            PtxKind::File(_) => None,
            PtxKind::Binary(data) => Some(data),
        }
    }
}

impl<S: Into<String>> From<S> for Ptx {
    fn from(source: S) -> Self {
        Self::from_src(source)
    }
}

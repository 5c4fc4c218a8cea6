//! Host functions and memory of the host that graphs hold for the library.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::buffer::Tracked;

/// Something that a node uses and that lives while the node may run.
#[derive(Clone)]
pub(super) enum Resource {
    Callback(Arc<dyn Any + Send + Sync>),
    Buffer(Arc<dyn Tracked>),
}

impl Resource {
    pub(super) fn is(&self, other: &Resource) -> bool {
        self.address() == other.address()
    }

    fn address(&self) -> usize {
        match self {
            Resource::Callback(callback) => Arc::as_ptr(callback).addr(),
            Resource::Buffer(buffer) => Arc::as_ptr(buffer).addr(),
        }
    }
}

/// Resources by the number of the node that uses them. Under 0, which no node has, lie those of
/// nodes whose number is not known, because they were captured.
pub(super) type Keep = BTreeMap<u64, Vec<Resource>>;

pub(super) const CAPTURED: u64 = 0;

/// All resources once.
pub(super) fn flatten(keep: &Keep) -> Vec<Resource> {
    let mut all: Vec<Resource> = keep.values().flatten().cloned().collect();
    all.sort_by_key(Resource::address);
    all.dedup_by_key(|resource| resource.address());
    all
}

/// Puts a node's resources in the place of those it had, which are given back: dropping one runs
/// code of the program, which no lock here may be held for.
#[must_use]
pub(super) fn put(keep: &mut Keep, node: u64, resources: Vec<Resource>) -> Option<Vec<Resource>> {
    if resources.is_empty() { keep.remove(&node) } else { keep.insert(node, resources) }
}

/// Resources of a graph that is instantiated.
#[derive(Clone, Default)]
pub(super) struct Kept {
    pub keep: Keep,
    pub buffers: Vec<Arc<dyn Tracked>>, // in the order of their addresses
    pub has_callbacks: bool,
}

impl Kept {
    pub(super) fn new(keep: Keep) -> Self {
        let mut kept = Self { keep, buffers: Vec::new(), has_callbacks: false };
        for resource in flatten(&kept.keep) {
            match resource {
                Resource::Callback(_) => kept.has_callbacks = true,
                Resource::Buffer(buffer) => kept.buffers.push(buffer),
            }
        }
        kept
    }
}

/// Locks; a panic elsewhere leaves what the locks here protect as it should be.
pub(super) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Functions that the linker binds.

macro_rules! functions {
    ($($(#[$doc:meta])* pub fn $name:ident($($parameter:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        unsafe extern "C" {
            $($(#[$doc])* pub fn $name($($parameter: $type),*) -> $result;)*
        }
    };
}

pub fn load_error() -> Option<&'static str> {
    None
}

pub fn take_missing_function() -> Option<&'static str> {
    None
}

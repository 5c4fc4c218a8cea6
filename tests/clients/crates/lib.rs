//! Empty: of this package cargo only makes out which crates there are to fetch.

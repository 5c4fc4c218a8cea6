//! The names of C functions in the library's advice, and what this crate calls them.

include!("generated/advice.rs");

/// The text with the names of this crate in the place of C functions, but for the one at the
/// beginning that says which call failed.
pub(crate) fn with_own_names(text: String) -> String {
    let head = text.find(": ").unwrap_or(0);
    let (caller, told) = text.split_at(head);
    if !told.contains("km_") {
        return text;
    }
    let mut result = caller.to_owned();
    let mut rest = told;
    while let Some(start) = rest.find("km_") {
        let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (before, word) = rest.split_at(start);
        let end = word.find(|letter| !is_word(letter)).unwrap_or(word.len());
        let (word, after) = word.split_at(end);
        let own = NAMES.iter().find(|(function, _)| *function == word);
        result.push_str(before);
        result.push_str(own.map_or(word, |(_, name)| name));
        rest = after;
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::with_own_names;

    #[test]
    fn advice_has_the_names_of_this_crate() {
        let told = |text: &str| with_own_names(text.to_owned());
        assert_eq!(
            told("km_context_reset: call km_context_reset."),
            "km_context_reset: call Context::reset."
        );
        assert_eq!(
            told("km_x: km_context_resets, km_tune_run"),
            "km_x: km_context_resets, Tuner::run"
        );
        assert_eq!(told("no names: none"), "no names: none");
    }
}

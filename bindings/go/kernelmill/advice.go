package kernelmill

import "regexp"

var (
	cName   = regexp.MustCompile(`\bkm_[a-z0-9_]+\b`)
	cCaller = regexp.MustCompile(`^km_[a-z0-9_]+: `)
)

// withOwnNames puts the names of this package into a text of the library, in the place of C
// functions. The one at the beginning, which says what call failed, goes: errors have an Op.
func withOwnNames(text string) string {
	text = cCaller.ReplaceAllString(text, "")
	return cName.ReplaceAllStringFunc(text, func(word string) string {
		if own, is := adviceNames[word]; is {
			return own
		}
		return word
	})
}

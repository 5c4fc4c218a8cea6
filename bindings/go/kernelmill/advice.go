package kernelmill

import "strings"

// withOwnNames puts the names of this package into a text of the library, in the place of C
// functions. The one at the beginning, which says what call failed, goes: errors have an Op.
func withOwnNames(text string) string {
	if word := nameAt(text, 0); word != "" && strings.HasPrefix(text[len(word):], ": ") {
		text = text[len(word)+2:]
	}
	var own strings.Builder // package regexp would be a tenth of the first build of small programs
	for start := 0; ; {
		next := strings.Index(text[start:], "km_")
		if next < 0 {
			return own.String() + text[start:]
		}
		next += start
		end := next + max(len(nameAt(text, next)), len("km_"))
		name, is := adviceNames[text[next:end]]
		if !is {
			name = text[next:end]
		}
		own.WriteString(text[start:next] + name)
		start = end
	}
}

// nameAt is the name of a C function that begins at an offset of a text; "" when none does.
func nameAt(text string, start int) string {
	if !strings.HasPrefix(text[start:], "km_") || start > 0 && isWord(text[start-1]) {
		return ""
	}
	end := start
	for end < len(text) && isWord(text[end]) {
		end++
	}
	return text[start:end]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

package kernelmill

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestConstantsAreComplete finds what the header has got and this package has not.
func TestConstantsAreComplete(t *testing.T) {
	types, err := os.ReadFile("../internal/raw/generated/types.go")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var own strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		own.Write(text)
	}
	pattern := regexp.MustCompile(`(?m)^\t((?:ERROR|DEVICE_ATTRIBUTE|FUNCTION_ATTRIBUTE)_\w+)`)
	names := pattern.FindAllStringSubmatch(string(types), -1)
	if len(names) < 60 {
		t.Errorf("only %d constants were found", len(names))
	}
	for _, name := range names {
		used := regexp.MustCompile(`\braw\.` + name[1] + `\b`).MatchString(own.String())
		if !used && !strings.HasSuffix(name[1], "_INVALID") {
			t.Errorf("%s has no name here", name[1])
		}
	}
}

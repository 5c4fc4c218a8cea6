package kernelmill_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// isChild runs the test itself again in a process that finds the library where folder says, for the
// library is loaded once, and says whether this is that one.
func isChild(t *testing.T, folder string) bool {
	t.Helper()
	if os.Getenv("KM_TEST_ROLE") == "child" {
		return true
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), "KM_TEST_ROLE=child", "KM_LIBRARY_DIR="+folder)
	if output, err := command.CombinedOutput(); err != nil ||
		!strings.Contains(string(output), "--- PASS: "+t.Name()) {
		t.Errorf("%v\n%s", err, output)
	}
	return false
}

func TestAMissingLibraryIsAnErrorOfTheFirstCall(t *testing.T) {
	if !isChild(t, "/no/such/folder") {
		return
	}
	_, err := kernelmill.Open("cpu")
	expect(t, kernelmill.ErrBackendUnavailable, err)
	place := "/no/such/folder/libkernelmill.so.1 is not there"
	if !strings.Contains(err.Error(), place) {
		t.Error(err)
	}
	failure := err.(*kernelmill.Error)
	equal(t, failure.Category(), kernelmill.CategoryEnvironment)
	equal(t, failure.Status.String(), "KM_ERROR_BACKEND_UNAVAILABLE")
	if !strings.Contains(failure.Suggestion(), "KM_LIBRARY_DIR") {
		t.Error(failure.Suggestion())
	}
	_, err = kernelmill.Build()
	expect(t, kernelmill.ErrBackendUnavailable, err)
}

func TestAFileThatIsNoLibraryIsNamed(t *testing.T) {
	folder := os.Getenv("KM_LIBRARY_DIR")
	if os.Getenv("KM_TEST_ROLE") != "child" {
		folder = t.TempDir()
		text := []byte("no library")
		ok(t, os.WriteFile(filepath.Join(folder, "libkernelmill.so.1"), text, 0o644))
	}
	if !isChild(t, folder) {
		return
	}
	_, err := kernelmill.Open("cpu")
	expect(t, kernelmill.ErrBackendUnavailable, err)
	if !strings.Contains(err.Error(), folder+"/libkernelmill.so.1: file too short") {
		t.Error(err)
	}
}

package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// environment reads variables of a test.
func environment(variables map[string]string) Environment {
	return func(name string) string { return variables[name] }
}

// touch makes an empty file, with its folders.
func touch(t *testing.T, path ...string) string {
	t.Helper()
	file := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestTheFolderThatIsNamedIsTheOnlyPlace(t *testing.T) {
	places := Places(environment(map[string]string{"KM_LIBRARY_DIR": "/opt/km/lib",
		"VIRTUAL_ENV": "/env", "PATH": "/usr/bin"}))
	if !slices.Equal(places, []string{"/opt/km/lib/" + Name}) {
		t.Error(places)
	}
}

func TestEachWayToInstallIsLookedFor(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a [b]")
	wheel := touch(t, folder, "env/lib/python3.9/site-packages/kernelmill/lib", Name)
	touch(t, folder, "config/lib/pkgconfig/kernelmill.pc")
	archive := touch(t, folder, "tree/lib", Name)
	command := touch(t, folder, "tree/bin/kernelmill")
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(command, filepath.Join(folder, "bin/kernelmill")); err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	places := Places(environment(map[string]string{"VIRTUAL_ENV": filepath.Join(folder, "env"),
		"PKG_CONFIG_PATH": "/nonexistent:" + filepath.Join(folder, "config/lib/pkgconfig"),
		"PATH":            "bin:" + filepath.Join(folder, "bin")}))
	expected := []string{filepath.Join(filepath.Dir(program), Name),
		filepath.Join(filepath.Dir(filepath.Dir(program)), "lib", Name),
		filepath.Join(folder, "config/lib", Name), wheel, Name, "/usr/local/lib/" + Name, archive}
	if len(places) < len(expected) || !slices.Equal(places[:len(expected)], expected) {
		t.Errorf("%q; expected %q", places, expected)
	}
}

func TestTheReasonHasEachPlace(t *testing.T) {
	folder := t.TempDir()
	touch(t, folder, Name)
	for named, expected := range map[string]string{
		folder:            "file too short",
		folder + "/other": folder + "/other/" + Name + " is not there",
	} {
		said := Load(func(path string) string { return path + ": file too short" },
			environment(map[string]string{"KM_LIBRARY_DIR": named}))
		if !strings.Contains(said, expected) || !strings.Contains(said, Advice) {
			t.Error(said)
		}
	}
}

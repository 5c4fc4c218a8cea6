// Package library finds libkernelmill.so.1 when a program makes its first call.
package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Name is the library's file.
const Name = "libkernelmill.so.1"

// Advice is what to do where there is no library.
const Advice = "Install Kernelmill, or set KM_LIBRARY_DIR to the folder that holds it."

// Folder is where builds say that the library lies, by
// -ldflags=-X=github.com/kernelmill/kernelmill/bindings/go/internal/library.Folder=FOLDER.
var Folder string

// Environment reads a variable; one that is not set is empty, and so is every one of a program that
// has more rights than its user.
type Environment func(name string) string

// Places are the files in the order of trial; the bare name stands for the folders of the system's
// loader. Nothing else is tried where KM_LIBRARY_DIR is set.
func Places(environment Environment) []string {
	if folder := environment("KM_LIBRARY_DIR"); folder != "" {
		return []string{filepath.Join(folder, Name)}
	}
	var places []string
	if program, err := os.Executable(); err == nil {
		folder := filepath.Dir(program)
		places = append(places, filepath.Join(folder, Name), filepath.Join(folder, "..", "lib", Name))
	}
	if Folder != "" {
		places = append(places, filepath.Join(Folder, Name))
	}
	for _, folder := range filepath.SplitList(environment("PKG_CONFIG_PATH")) {
		if exists(filepath.Join(folder, "kernelmill.pc")) {
			places = append(places, filepath.Join(folder, "..", Name))
		}
	}
	for _, name := range [...]string{"VIRTUAL_ENV", "CONDA_PREFIX"} {
		if prefix := environment(name); prefix != "" {
			places = append(places, below(prefix)...)
		}
	}
	places = append(places, Name, filepath.Join("/usr/local/lib", Name))
	for _, prefix := range besideTheCommand(environment("PATH")) {
		places = append(places, below(prefix)...)
	}
	if home := environment("HOME"); home != "" {
		places = append(places, ofWheels(filepath.Join(home, ".local"))...)
	}
	places = append(places, ofWheels("/usr/local")...)
	return append(places, ofWheels("/usr")...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// below gives the libraries below a prefix: of an archive that was unpacked there, and of wheels.
func below(prefix string) []string {
	wheels := ofWheels(prefix)
	if archive := filepath.Join(prefix, "lib", Name); exists(archive) {
		return append([]string{archive}, wheels...)
	}
	return wheels
}

// ofWheels gives the libraries of wheels in the Pythons of a prefix; Debian's Python calls the folder
// dist-packages.
func ofWheels(prefix string) []string {
	var found []string
	for _, packages := range [...]string{"site-packages", "dist-packages"} {
		pattern := filepath.Join("lib", "python3*", packages, "kernelmill", "lib", Name)
		matches, err := filepath.Glob(filepath.Join(escaped(prefix), pattern))
		if err == nil {
			found = append(found, matches...)
		}
	}
	slices.Sort(found)
	slices.Reverse(found)
	return found
}

// escaped is a path whose characters all stand for themselves in a pattern.
func escaped(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// besideTheCommand gives the prefixes of the commands kernelmill on PATH, with links followed: tools
// for commands of Python packages put links into a folder on PATH.
func besideTheCommand(path string) []string {
	var prefixes []string
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		command, err := filepath.EvalSymlinks(filepath.Join(folder, "kernelmill"))
		if err == nil {
			prefixes = append(prefixes, filepath.Dir(filepath.Dir(command)))
		}
	}
	return prefixes
}

// Load opens the first library that there is by a function that gives the loader's words if it
// cannot. The result says why there is none, and is empty otherwise.
func Load(open func(path string) string, environment Environment) string {
	var tried []string
	for _, place := range Places(environment) {
		if place != Name && !exists(place) {
			tried = append(tried, place+" is not there")
			continue
		}
		reason := open(place)
		if reason == "" {
			return ""
		}
		tried = append(tried, reason)
	}
	return Name + " was not found. " + Advice + " Tried: " + strings.Join(tried, "; ")
}

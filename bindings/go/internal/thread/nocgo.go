//go:build !cgo

package thread

//go:build !cgo

package callback

// Package gonum is the BLAS of gonum on Kernelmill: all of blas.Float32, Float64, Complex64 and
// Complex128.
//
//	implementation, err := gonum.Open("auto")
//	blas64.Use(implementation)
//
// Memory of the caller is used where it is, and each call waits until its work is done; the devices
// are CPU devices and GPUs that reach the host's memory. As gonum's own BLAS does, calls panic where
// arguments are wrong, with the library's text; they do so, too, where the library cannot do them.
package gonum

import (
	"gonum.org/v1/gonum/blas"

	"github.com/kernelmill/kernelmill/bindings/go/gonum/internal/core"
	"github.com/kernelmill/kernelmill/bindings/go/gonum/internal/generated"
	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// Implementation is the BLAS on a context. Any number of goroutines may use one.
type Implementation struct {
	generated.Float32
	generated.Float64
	generated.Complex64
	generated.Complex128
	engine *core.Engine
}

var (
	_ blas.Float32    = (*Implementation)(nil)
	_ blas.Float64    = (*Implementation)(nil)
	_ blas.Complex64  = (*Implementation)(nil)
	_ blas.Complex128 = (*Implementation)(nil)
)

// Open makes the BLAS on a device by its URI: "cpu", or "auto" for the best that works.
func Open(uri string) (*Implementation, error) {
	context, err := kernelmill.Open(uri)
	if err != nil {
		return nil, err
	}
	return New(context)
}

// New makes the BLAS on a context, which has to stay open until Close.
func New(context *kernelmill.Context) (*Implementation, error) {
	engine, err := core.New(context)
	if err != nil {
		return nil, err
	}
	return &Implementation{generated.Float32{Engine: engine}, generated.Float64{Engine: engine},
		generated.Complex64{Engine: engine}, generated.Complex128{Engine: engine}, engine}, nil
}

// Close lets streams and memory of the implementation go.
func (i *Implementation) Close() error { return i.engine.Close() }

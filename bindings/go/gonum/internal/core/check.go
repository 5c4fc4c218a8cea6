package core

import (
	"fmt"

	"gonum.org/v1/gonum/blas"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

// The words of gonum for those of the library.
var (
	operations = map[blas.Transpose]kernelmill.Operation{
		blas.NoTrans: kernelmill.NoTranspose, blas.Trans: kernelmill.Transpose,
		blas.ConjTrans: kernelmill.ConjugateTranspose,
	}
	triangles = map[blas.Uplo]kernelmill.Triangle{
		blas.Upper: kernelmill.Upper, blas.Lower: kernelmill.Lower,
	}
	diagonals = map[blas.Diag]kernelmill.Diagonal{
		blas.NonUnit: kernelmill.StoredDiagonal, blas.Unit: kernelmill.UnitDiagonal,
	}
	sides = map[blas.Side]kernelmill.Side{blas.Left: kernelmill.Left, blas.Right: kernelmill.Right}
)

// known is the library's word for one of gonum, or a panic.
func known[K comparable, V any](words map[K]V, what string, word K) V {
	value, isKnown := words[word]
	if !isKnown {
		panic(fmt.Sprintf("blas: illegal %s: %v", what, word))
	}
	return value
}

// sizes panics where a size is negative.
func sizes(all ...int) {
	for _, size := range all {
		if size < 0 {
			panic(fmt.Sprintf("blas: the size %d is negative", size))
		}
	}
}

// increment panics where an increment is 0.
func increment(name string, inc int) {
	if inc == 0 {
		panic(fmt.Sprintf("blas: the increment of %s is 0", name))
	}
}

// vector panics where a vector is too short.
func vector[T any](name string, x []T, n, inc int) {
	if need := (n-1)*max(inc, -inc) + 1; n > 0 && len(x) < need {
		panic(fmt.Sprintf("blas: %s has %d numbers, %d of them %d apart need %d", name, len(x), n, inc,
			need))
	}
}

// leading panics where a leading dimension is less than a line.
func leading(name string, dimension, line int) {
	if dimension < max(line, 1) {
		panic(fmt.Sprintf("blas: the leading dimension %d of %s, of lines of %d", dimension, name, line))
	}
}

// matrix panics where a matrix of so many lines is too short.
func matrix[T any](name string, a []T, lines, dimension, line int) {
	if need := (lines-1)*dimension + line; lines > 0 && line > 0 && len(a) < need {
		panic(fmt.Sprintf("blas: %s has %d numbers, it needs %d", name, len(a), need))
	}
}

// packed panics where a packed triangle is too short.
func packed[T any](a []T, n int) {
	if need := n * (n + 1) / 2; len(a) < need {
		panic(fmt.Sprintf("blas: ap has %d numbers, it needs %d", len(a), need))
	}
}

// shape is lines and their length of a matrix that may be transposed.
func shape(operation blas.Transpose, rows, columns int) (lines, line int) {
	if operation == blas.NoTrans {
		return rows, columns
	}
	return columns, rows
}

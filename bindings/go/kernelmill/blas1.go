package kernelmill

import (
	"unsafe"

	raw "github.com/kernelmill/kernelmill/bindings/go/internal/raw/generated"
)

// Axpy queues y = alpha x + y of n elements.
func Axpy[T Number](blas *BLAS, n int, alpha T, x, y Vector[T]) error {
	c := beginBLAS(blas, "Axpy")
	count, vx, vy := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_axpy(id, typeOf[T](), count, place(alpha), vx, vy)
	})
}

// Scal queues x = alpha x of n elements.
func Scal[T Number](blas *BLAS, n int, alpha T, x Vector[T]) error {
	c := beginBLAS(blas, "Scal")
	count, vx := c.size("n", n), vectorIn(c, "x", x)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_scal(id, typeOf[T](), count, place(alpha), vx)
	})
}

// Copy queues y = x of n elements.
func Copy[T Number](blas *BLAS, n int, x, y Vector[T]) error {
	c := beginBLAS(blas, "Copy")
	count, vx, vy := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_copy(id, typeOf[T](), count, vx, vy)
	})
}

// Swap queues the exchange of x and y, of n elements.
func Swap[T Number](blas *BLAS, n int, x, y Vector[T]) error {
	c := beginBLAS(blas, "Swap")
	count, vx, vy := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_swap(id, typeOf[T](), count, vx, vy)
	})
}

// Dot queues the sum of x_i y_i, which goes to the first element of result.
func Dot[T Number](blas *BLAS, n int, x, y Vector[T], result *Slice[T]) error {
	c := beginBLAS(blas, "Dot")
	count, vx, vy, out := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y), resultIn(c, result)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_dot(id, typeOf[T](), count, vx, vy, out)
	})
}

// Dotc is Dot with the complex conjugates of x.
func Dotc[T Number](blas *BLAS, n int, x, y Vector[T], result *Slice[T]) error {
	c := beginBLAS(blas, "Dotc")
	count, vx, vy, out := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y), resultIn(c, result)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_dotc(id, typeOf[T](), count, vx, vy, out)
	})
}

// reduction is a call whose result is a real number.
type reduction func(id uint64, kind int32, n uint64, x, result unsafe.Pointer) *raw.Failure

// reduce makes a reduction to a result of a real type, which has to be that of T.
func reduce[T Number, R float32 | float64](
	blas *BLAS, op string, n int, x Vector[T], result *Slice[R], call reduction,
) error {
	c := beginBLAS(blas, op)
	count, vx, out := c.size("n", n), vectorIn(c, "x", x), resultIn(c, result)
	if kind := typeOf[T](); c.failed == nil &&
		(kind == raw.DATA_TYPE_F32 || kind == raw.DATA_TYPE_C32) != (sizeOf[R]() == 4) {
		c.failed = fail(op, ErrInvalidArgument, "the result has another precision than x")
	}
	return c.end(func(id uint64) *raw.Failure { return call(id, typeOf[T](), count, vx, out) })
}

// Nrm2 queues the Euclidean norm of x, which goes to the first element of result.
func Nrm2[T Number, R float32 | float64](
	blas *BLAS, n int, x Vector[T], result *Slice[R],
) error {
	return reduce(blas, "Nrm2", n, x, result, raw.Km_blas_nrm2)
}

// Asum queues the sum of the magnitudes in x, for complex types those of both parts, which goes to
// the first element of result.
func Asum[T Number, R float32 | float64](
	blas *BLAS, n int, x Vector[T], result *Slice[R],
) error {
	return reduce(blas, "Asum", n, x, result, raw.Km_blas_asum)
}

// Iamax queues the index, from 0, of the first element of x with the largest magnitude;
// math.MaxUint64 when n is 0.
func Iamax[T Number](blas *BLAS, n int, x Vector[T], result *Slice[uint64]) error {
	c := beginBLAS(blas, "Iamax")
	count, vx, out := c.size("n", n), vectorIn(c, "x", x), resultIn(c, result)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_iamax(id, typeOf[T](), count, vx, out)
	})
}

// Rot queues a plane rotation: x_i = cos x_i + sin y_i, y_i = cos y_i - sin x_i.
func Rot[T Number](blas *BLAS, n int, x, y Vector[T], cos, sin float64) error {
	c := beginBLAS(blas, "Rot")
	count, vx, vy := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_rot(id, typeOf[T](), count, vx, vy, realPlace[T](cos), realPlace[T](sin))
	})
}

// Rotm queues a modified plane rotation by the parameters of [Rotmg]: a flag, h11, h21, h12, h22.
func Rotm[T float32 | float64](blas *BLAS, n int, x, y Vector[T], parameters [5]T) error {
	c := beginBLAS(blas, "Rotm")
	count, vx, vy := c.size("n", n), vectorIn(c, "x", x), vectorIn(c, "y", y)
	return c.end(func(id uint64) *raw.Failure {
		return raw.Km_blas_rotm(id, typeOf[T](), count, vx, vy, unsafe.Pointer(&parameters))
	})
}

// Rotation is what [Rotg] computes.
type Rotation[T Number] struct {
	R   T // what a becomes
	Z   T // the one number that Cos and Sin can be found from, for real types
	Cos float64
	Sin T
}

// Rotg computes the rotation that turns (a, b) into (r, 0), on the host.
func Rotg[T Number](a, b T) (Rotation[T], error) {
	rotation := Rotation[T]{R: a, Z: b}
	kind := typeOf[T]()
	var cos float64
	var cos32 float32
	where := unsafe.Pointer(&cos)
	if kind == raw.DATA_TYPE_F32 || kind == raw.DATA_TYPE_C32 {
		where = unsafe.Pointer(&cos32)
	}
	err := check("Rotg", raw.Km_blas_rotg(kind, unsafe.Pointer(&rotation.R),
		unsafe.Pointer(&rotation.Z), where, unsafe.Pointer(&rotation.Sin)))
	rotation.Cos = cos + float64(cos32)
	return rotation, err
}

// Rotmg computes the parameters of [Rotm] that turn (sqrt(d1) x1, sqrt(d2) y1) so that the second
// number becomes 0, and what d1, d2 and x1 become, on the host.
func Rotmg[T float32 | float64](d1, d2, x1, y1 T) (parameters [5]T, newD1, newD2, newX1 T, err error) {
	err = check("Rotmg", raw.Km_blas_rotmg(typeOf[T](), unsafe.Pointer(&d1), unsafe.Pointer(&d2),
		unsafe.Pointer(&x1), unsafe.Pointer(&y1), unsafe.Pointer(&parameters)))
	return parameters, d1, d2, x1, err
}

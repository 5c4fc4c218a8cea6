package guda_test

import (
	"fmt"
	"time"

	"github.com/kernelmill/kernelmill/bindings/go/guda"
)

// particle is one of an array of structures.
type particle struct{ x, y, z, vx, vy, vz, mass, padding float32 }

// particles is a structure of arrays.
type particles struct{ x, y, z, vx, vy, vz []float32 }

func newParticles(count int) *particles {
	p := &particles{}
	for i, field := range []*[]float32{&p.x, &p.y, &p.z, &p.vx, &p.vy, &p.vz} {
		*field = make([]float32, count)
		for j := range *field {
			(*field)[j] = float32(i)
		}
	}
	return p
}

// move goes through one array after the other, which is what vector instructions and caches want.
func (p *particles) move(dt float32) {
	guda.Saxpy(len(p.x), dt, p.vx, 1, p.x, 1)
	guda.Saxpy(len(p.y), dt, p.vy, 1, p.y, 1)
	guda.Saxpy(len(p.z), dt, p.vz, 1, p.z, 1)
}

func moveAll(all []particle, dt float32) {
	for i := range all {
		all[i].x += all[i].vx * dt
		all[i].y += all[i].vy * dt
		all[i].z += all[i].vz * dt
	}
}

// Particles as a structure of arrays are moved by Saxpy; as an array of structures, one by one.
func ExampleSaxpy_particles() {
	const count = 1000
	const dt = 0.5
	arrays := newParticles(count)
	structures := make([]particle, count)
	for i := range structures {
		structures[i] = particle{0, 1, 2, 3, 4, 5, 1, 0}
	}
	arrays.move(dt)
	moveAll(structures, dt)
	last := count - 1
	fmt.Println(arrays.x[last], arrays.y[last], arrays.z[last])
	fmt.Println(structures[last].x, structures[last].y, structures[last].z)
	// Output:
	// 1.5 3 4.5
	// 1.5 3 4.5
}

// fill writes a matrix row by row or column by column, and says how long it took.
func fill(matrix [][]float32, byRows bool) time.Duration {
	start := time.Now()
	for i := range matrix {
		for j := range matrix {
			if byRows {
				matrix[i][j] = float32(i + j)
			} else {
				matrix[j][i] = float32(i + j)
			}
		}
	}
	return time.Since(start)
}

// Memory is gone through in the order in which it lies; across it, each access is a line of the cache.
func Example_accessPatterns() {
	matrix := make([][]float32, 1024)
	for i := range matrix {
		matrix[i] = make([]float32, 1024)
	}
	rows, columns := fill(matrix, true), fill(matrix, false)
	fmt.Println(matrix[3][4], rows > 0, columns > 0)
	// Output: 7 true true
}

// Finds the edges of a picture by a CUDA C++ kernel: sobel INPUT.png OUTPUT.pgm
package main

import (
	"fmt"
	"image"
	"image/color"
	_ "image/png"
	"log"
	"os"

	"kernelmill.example/sobel/generated/sobel"

	"github.com/kernelmill/kernelmill/bindings/go/kernelmill"
)

//go:generate kernelmill wrap ../sobel/sobel.cu --lang go -o generated/sobel/sobel.go

// check ends the program at the first failure, which says what is wrong.
func check[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// grey is a picture's brightness, row by row.
func grey(picture image.Image) []uint8 {
	bounds := picture.Bounds()
	pixels := make([]uint8, 0, bounds.Dx()*bounds.Dy())
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			luma := 77*uint32(c.R) + 150*uint32(c.G) + 29*uint32(c.B) + 128
			pixels = append(pixels, uint8(luma>>8))
		}
	}
	return pixels
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: sobel INPUT.png OUTPUT.pgm")
	}
	file := check(os.Open(os.Args[1]))
	picture, _, err := image.Decode(file)
	pixels := grey(check(picture, err))
	width, height := picture.Bounds().Dx(), picture.Bounds().Dy()

	context := check(kernelmill.Open("auto")) // what KM_DEVICE says, else a GPU, else the CPU
	defer context.Close()
	stream := check(context.NewStream())
	defer stream.Close()
	kernels := check(sobel.Load(context))
	in := check(kernelmill.SliceOf(stream, pixels))
	defer in.Close()
	out := check(kernelmill.NewSlice[uint8](context, len(pixels)))
	defer out.Close()

	grid, block := [3]int{(width + 15) / 16, (height + 15) / 16, 1}, [3]int{16, 16, 1}
	check(0, kernels.Sobel(stream, grid, block, 0, in, out, int32(width), int32(height)))
	edges := check(out.ToHost(stream))

	header := fmt.Sprintf("P5\n%d %d\n255\n", width, height)
	check(0, os.WriteFile(os.Args[2], append([]byte(header), edges...), 0o644))
}

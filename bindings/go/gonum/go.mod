module github.com/kernelmill/kernelmill/bindings/go/gonum

go 1.24

require (
	github.com/kernelmill/kernelmill/bindings/go v0.0.0
	gonum.org/v1/gonum v0.16.0
)

replace github.com/kernelmill/kernelmill/bindings/go => ../

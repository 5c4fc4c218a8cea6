module kernelmill.bench/guda

go 1.24

require github.com/kernelmill/kernelmill/bindings/go v0.0.0

replace github.com/kernelmill/kernelmill/bindings/go => ../../bindings/go

module kernelmill.bench/call_cost

go 1.24

require github.com/kernelmill/kernelmill/bindings/go v0.0.0

replace github.com/kernelmill/kernelmill/bindings/go => ../../../bindings/go

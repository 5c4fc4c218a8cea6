module github.com/kernelmill/kernelmill/bindings/go

go 1.24

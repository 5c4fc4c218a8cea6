package guda

// Init opens a device, and makes it the current one of all goroutines that have not called
// [SetDevice]. Without it the first use opens the first device.
func Init(device int) error {
	found, err := UseDevice(device)
	if err != nil {
		if current, failed := currentDevice(); failed == nil {
			return current.done(err)
		}
		return err
	}
	if _, err := found.open(); err != nil {
		return found.done(err)
	}
	process.initial.Store(int64(device))
	return nil
}

// Reset is [DeviceReset].
func Reset() error { return DeviceReset() }

// Synchronize is [DeviceSynchronize].
func Synchronize() error { return DeviceSynchronize() }

// Allocate is [Malloc] with the error that [GetLastError] would give.
func Allocate(size int) (DevicePtr, error) {
	device, err := currentDevice()
	if err != nil {
		return 0, err
	}
	return device.Allocate(size)
}

// Allocate is [Allocate] on this device.
func (d *Device) Allocate(size int) (DevicePtr, error) {
	ptr, err := d.tryAllocate(size, d.unaligned(size))
	if d != nil && err != nil {
		return 0, d.done(err)
	}
	return ptr, err
}

// LaunchFunc is [Launch] of a function.
func LaunchFunc(kernel KernelFunc, grid, block Dim3, args ...any) error {
	return Launch(kernel, grid, block, args...)
}
